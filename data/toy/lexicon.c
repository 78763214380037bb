/* lexicon.c -- the tables of people, things, qualities, places and times; verbs are in verbs.c. */
#include "data/toy/lexicon.h"

#include <assert.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof(*(table))))

// clang-format off
const Adjective adjectives[ADJECTIVES] = {
    [SMALL]       = {"small",       {{"petit", "petits"}, {"petite", "petites"}}, NULL},
    [BIG]         = {"big",         {{"grand", "grands"}, {"grande", "grandes"}}, NULL},
    [OLD]         = {"old",         {{"vieux", "vieux"}, {"vieille", "vieilles"}}, "vieil"},
    [BEAUTIFUL]   = {"beautiful",   {{"beau", "beaux"}, {"belle", "belles"}}, "bel"},
    [NEW]         = {"new",         {{"nouveau", "nouveaux"}, {"nouvelle", "nouvelles"}}, "nouvel"},
    [YOUNG]       = {"young",       {{"jeune", "jeunes"}, {"jeune", "jeunes"}}, NULL},
    [GOOD]        = {"good",        {{"bon", "bons"}, {"bonne", "bonnes"}}, NULL},
    [LITTLE]      = {"little",      {{"petit", "petits"}, {"petite", "petites"}}, NULL},
    [RED]         = {"red",         {{"rouge", "rouges"}, {"rouge", "rouges"}}, NULL},
    [BLUE]        = {"blue",        {{"bleu", "bleus"}, {"bleue", "bleues"}}, NULL},
    [GREEN]       = {"green",       {{"vert", "verts"}, {"verte", "vertes"}}, NULL},
    [BLACK]       = {"black",       {{"noir", "noirs"}, {"noire", "noires"}}, NULL},
    [WHITE]       = {"white",       {{"blanc", "blancs"}, {"blanche", "blanches"}}, NULL},
    [YELLOW]      = {"yellow",      {{"jaune", "jaunes"}, {"jaune", "jaunes"}}, NULL},
    [EXPENSIVE]   = {"expensive",   {{"cher", "chers"}, {"chère", "chères"}}, NULL},
    [INTERESTING] = {"interesting", {{"intéressant", "intéressants"},
                                     {"intéressante", "intéressantes"}}, NULL},
    [FAMOUS]      = {"famous",      {{"célèbre", "célèbres"}, {"célèbre", "célèbres"}}, NULL},
    [DIFFICULT]   = {"difficult",   {{"difficile", "difficiles"}, {"difficile", "difficiles"}}, NULL},
    [ITALIAN]     = {"italian",     {{"italien", "italiens"}, {"italienne", "italiennes"}}, NULL},
    [FRENCH]      = {"french",      {{"français", "français"}, {"française", "françaises"}}, NULL},
    [HOT]         = {"hot",         {{"chaud", "chauds"}, {"chaude", "chaudes"}}, NULL},
    [COLD]        = {"cold",        {{"froid", "froids"}, {"froide", "froides"}}, NULL},
    [TALL]        = {"tall",        {{"grand", "grands"}, {"grande", "grandes"}}, NULL},
    [TIRED]       = {"tired",       {{"fatigué", "fatigués"}, {"fatiguée", "fatiguées"}}, NULL},
    [HAPPY]       = {"happy",       {{"heureux", "heureux"}, {"heureuse", "heureuses"}}, NULL},
    [SAD]         = {"sad",         {{"triste", "tristes"}, {"triste", "tristes"}}, NULL},
    [SICK]        = {"sick",        {{"malade", "malades"}, {"malade", "malades"}}, NULL},
    [OPEN]        = {"open",        {{"ouvert", "ouverts"}, {"ouverte", "ouvertes"}}, NULL},
    [CLOSED]      = {"closed",      {{"fermé", "fermés"}, {"fermée", "fermées"}}, NULL},
};

#define COLOURS (BIT(RED) | BIT(BLUE) | BIT(GREEN) | BIT(BLACK) | BIT(WHITE) | BIT(YELLOW))
#define STATES  (BIT(TALL) | BIT(TIRED) | BIT(HAPPY) | BIT(SAD) | BIT(SICK))
#define DOORS   (BIT(OPEN) | BIT(CLOSED))
#define DRESS   (COLOURS | BIT(OLD) | BIT(NEW) | BIT(BEAUTIFUL) | BIT(EXPENSIVE))

const Noun nouns[] = {
    {"man",     "men",      "homme",      "hommes",     MASCULINE, PEOPLE, STATES | BIT(OLD) | BIT(YOUNG) | BIT(FAMOUS)},
    {"woman",   "women",    "femme",      "femmes",     FEMININE,  PEOPLE, STATES | BIT(OLD) | BIT(YOUNG) | BIT(FAMOUS)},
    {"boy",     "boys",     "garçon",     "garçons",    MASCULINE, PEOPLE, STATES | BIT(LITTLE)},
    {"girl",    "girls",    "fille",      "filles",     FEMININE,  PEOPLE, STATES | BIT(LITTLE)},
    {"child",   "children", "enfant",     "enfants",    MASCULINE, PEOPLE, STATES},
    {"teacher", "teachers", "professeur", "professeurs", MASCULINE, PEOPLE | COMPANION, STATES | BIT(GOOD) | BIT(NEW) | BIT(YOUNG)},
    {"doctor",  "doctors",  "médecin",    "médecins",   MASCULINE, PEOPLE | COMPANION, STATES | BIT(GOOD) | BIT(OLD) | BIT(FAMOUS)},
    {"neighbour", "neighbours", "voisin", "voisins",    MASCULINE, PEOPLE | COMPANION, STATES | BIT(NEW) | BIT(OLD)},
    {"student", "students", "étudiant",   "étudiants",  MASCULINE, PEOPLE, STATES | BIT(GOOD) | BIT(NEW)},
    {"friend",  "friends",  "ami",        "amis",       MASCULINE, FAMILY | COMPANION, STATES | BIT(OLD) | BIT(GOOD)},
    {"mother",  "mothers",  "mère",       "mères",      FEMININE,  FAMILY, STATES},
    {"father",  "fathers",  "père",       "pères",      MASCULINE, FAMILY, STATES},
    {"brother", "brothers", "frère",      "frères",     MASCULINE, FAMILY, STATES | BIT(LITTLE)},
    {"sister",  "sisters",  "sœur",       "sœurs",      FEMININE,  FAMILY, STATES | BIT(LITTLE)},
    {NULL,      "parents",  NULL,         "parents",    MASCULINE, FAMILY, STATES},

    {"cat",     "cats",     "chat",       "chats",      MASCULINE, ANIMAL | PET | TASTE, BIT(SMALL) | BIT(OLD) | BIT(BLACK) | BIT(WHITE) | BIT(BEAUTIFUL)},
    {"dog",     "dogs",     "chien",      "chiens",     MASCULINE, ANIMAL | PET | TASTE, BIT(SMALL) | BIT(OLD) | BIT(BLACK) | BIT(WHITE) | BIT(BEAUTIFUL)},
    {"horse",   "horses",   "cheval",     "chevaux",    MASCULINE, ANIMAL | TASTE, BIT(SMALL) | BIT(OLD) | BIT(BLACK) | BIT(WHITE) | BIT(BEAUTIFUL)},
    {"bird",    "birds",    "oiseau",     "oiseaux",    MASCULINE, ANIMAL | BIRD | TASTE, BIT(SMALL) | BIT(BLUE) | BIT(BLACK) | BIT(YELLOW) | BIT(BEAUTIFUL)},

    {"book",    "books",    "livre",      "livres",     MASCULINE, READING | WRITING | SMALL_THING | TASTE, BIT(OLD) | BIT(NEW) | BIT(GOOD) | BIT(INTERESTING) | BIT(DIFFICULT) | BIT(EXPENSIVE) | BIT(FRENCH) | BIT(ITALIAN)},
    {"letter",  "letters",  "lettre",     "lettres",    FEMININE,  READING | WRITING, BIT(OLD) | BIT(BEAUTIFUL) | BIT(INTERESTING)},
    {"newspaper", "newspapers", "journal", "journaux",  MASCULINE, READING | SMALL_THING, BIT(OLD) | BIT(FRENCH) | BIT(ITALIAN) | BIT(INTERESTING)},
    {"story",   "stories",  "histoire",   "histoires",  FEMININE,  READING | WRITING | TASTE, BIT(OLD) | BIT(BEAUTIFUL) | BIT(GOOD) | BIT(INTERESTING)},
    {"poem",    "poems",    "poème",      "poèmes",     MASCULINE, READING | WRITING | TASTE, BIT(OLD) | BIT(BEAUTIFUL) | BIT(DIFFICULT) | BIT(FRENCH) | BIT(ITALIAN)},
    {"photo",   "photos",   "photo",      "photos",     FEMININE,  SMALL_THING, BIT(OLD) | BIT(BEAUTIFUL) | BIT(INTERESTING)},

    {"apple",   "apples",   "pomme",      "pommes",     FEMININE,  FOOD | TASTE, BIT(RED) | BIT(GREEN) | BIT(YELLOW) | BIT(GOOD) | BIT(SMALL)},
    {"orange",  "oranges",  "orange",     "oranges",    FEMININE,  FOOD | TASTE, BIT(GOOD) | BIT(SMALL)},
    {"egg",     "eggs",     "œuf",        "œufs",       MASCULINE, FOOD | TASTE, 0},
    {"cake",    "cakes",    "gâteau",     "gâteaux",    MASCULINE, FOOD | TASTE, BIT(GOOD) | BIT(SMALL)},
    {"bread",   NULL,       "pain",       NULL,         MASCULINE, FOOD | TASTE, BIT(GOOD)},
    {"soup",    NULL,       "soupe",      NULL,         FEMININE,  FOOD | TASTE, BIT(GOOD) | BIT(HOT) | BIT(COLD)},
    {"cheese",  NULL,       "fromage",    NULL,         MASCULINE, FOOD | TASTE, BIT(GOOD) | BIT(FRENCH) | BIT(ITALIAN)},
    {"meat",    NULL,       "viande",     NULL,         FEMININE,  FOOD | TASTE, BIT(GOOD)},
    {"rice",    NULL,       "riz",        NULL,         MASCULINE, FOOD | TASTE, BIT(GOOD)},
    {"fish",    NULL,       "poisson",    NULL,         MASCULINE, FOOD | TASTE, BIT(GOOD)},
    {"coffee",  NULL,       "café",       NULL,         MASCULINE, DRINK | TASTE, BIT(GOOD) | BIT(HOT) | BIT(COLD) | BIT(BLACK)},
    {"tea",     NULL,       "thé",        NULL,         MASCULINE, DRINK | TASTE, BIT(GOOD) | BIT(HOT) | BIT(COLD) | BIT(GREEN)},
    {"water",   NULL,       "eau",        NULL,         FEMININE,  DRINK, BIT(COLD)},
    {"milk",    NULL,       "lait",       NULL,         MASCULINE, DRINK | TASTE, BIT(HOT) | BIT(COLD)},
    {"wine",    NULL,       "vin",        NULL,         MASCULINE, DRINK | TASTE, BIT(GOOD) | BIT(RED) | BIT(WHITE) | BIT(FRENCH) | BIT(ITALIAN)},

    {"dress",   "dresses",  "robe",       "robes",      FEMININE,  CLOTHES, DRESS},
    {"shirt",   "shirts",   "chemise",    "chemises",   FEMININE,  CLOTHES, DRESS},
    {"hat",     "hats",     "chapeau",    "chapeaux",   MASCULINE, CLOTHES, DRESS},
    {"coat",    "coats",    "manteau",    "manteaux",   MASCULINE, CLOTHES, DRESS},
    {NULL,      "shoes",    NULL,         "chaussures", FEMININE,  CLOTHES, DRESS},

    {"car",     "cars",     "voiture",    "voitures",   FEMININE,  VEHICLE | TASTE, DRESS | BIT(SMALL) | BIT(ITALIAN) | BIT(FRENCH)},
    {"bicycle", "bicycles", "vélo",       "vélos",      MASCULINE, VEHICLE, DRESS | BIT(SMALL)},
    {"boat",    "boats",    "bateau",     "bateaux",    MASCULINE, BOAT | TASTE, BIT(WHITE) | BIT(BLUE) | BIT(SMALL) | BIT(OLD) | BIT(NEW) | BIT(BEAUTIFUL)},
    {"train",   "trains",   "train",      "trains",     MASCULINE, WHEELS | TASTE, 0},
    {"bus",     "buses",    "bus",        "bus",        MASCULINE, WHEELS, 0},

    {"table",   "tables",   "table",      "tables",     FEMININE,  FURNITURE, BIT(BIG) | BIT(SMALL) | BIT(OLD) | BIT(NEW) | BIT(WHITE) | BIT(EXPENSIVE)},
    {"chair",   "chairs",   "chaise",     "chaises",    FEMININE,  FURNITURE, BIT(SMALL) | BIT(OLD) | BIT(NEW) | BIT(WHITE) | BIT(BLUE)},
    {"bed",     "beds",     "lit",        "lits",       MASCULINE, FURNITURE, BIT(BIG) | BIT(SMALL) | BIT(OLD) | BIT(NEW)},
    {"flower",  "flowers",  "fleur",      "fleurs",     FEMININE,  FLOWER | TASTE, BIT(RED) | BIT(YELLOW) | BIT(WHITE) | BIT(BLUE) | BIT(BEAUTIFUL) | BIT(SMALL)},
    {"tree",    "trees",    "arbre",      "arbres",     MASCULINE, 0, BIT(OLD) | BIT(BIG) | BIT(BEAUTIFUL) | BIT(SMALL)},
    {"key",     "keys",     "clé",        "clés",       FEMININE,  SMALL_THING, 0},
    {"door",    "doors",    "porte",      "portes",     FEMININE,  OPENING, DOORS | BIT(RED) | BIT(GREEN) | BIT(BLUE) | BIT(WHITE)},
    {"window",  "windows",  "fenêtre",    "fenêtres",   FEMININE,  OPENING, DOORS | BIT(BIG) | BIT(SMALL)},
    {"house",   "houses",   "maison",     "maisons",    FEMININE,  HOME | TASTE, BIT(BIG) | BIT(SMALL) | BIT(OLD) | BIT(BEAUTIFUL) | BIT(NEW) | BIT(WHITE) | BIT(YELLOW) | BIT(EXPENSIVE)},
    {"garden",  "gardens",  "jardin",     "jardins",    MASCULINE, SIGHT, BIT(BIG) | BIT(SMALL) | BIT(BEAUTIFUL) | BIT(OLD)},
    {"kitchen", "kitchens", "cuisine",    "cuisines",   FEMININE,  0, BIT(BIG) | BIT(SMALL) | BIT(NEW) | BIT(BEAUTIFUL) | BIT(WHITE)},
    {"street",  "streets",  "rue",        "rues",       FEMININE,  0, BIT(SMALL)},

    {"museum",  "museums",  "musée",      "musées",     MASCULINE, SIGHT | DESTINATION | TASTE, DOORS | BIT(BIG) | BIT(NEW) | BIT(OLD) | BIT(FAMOUS) | BIT(INTERESTING)},
    {"castle",  "castles",  "château",    "châteaux",   MASCULINE, SIGHT | TASTE, BIT(BIG) | BIT(OLD) | BIT(BEAUTIFUL) | BIT(FAMOUS)},
    {"church",  "churches", "église",     "églises",    FEMININE,  SIGHT | DESTINATION, BIT(SMALL) | BIT(OLD) | BIT(BEAUTIFUL) | BIT(FAMOUS)},
    {"city",    "cities",   "ville",      "villes",     FEMININE,  SIGHT | TOWN, BIT(BIG) | BIT(OLD) | BIT(BEAUTIFUL) | BIT(FAMOUS)},
    {"village", "villages", "village",    "villages",   MASCULINE, SIGHT | TOWN, BIT(SMALL) | BIT(OLD) | BIT(BEAUTIFUL)},
    {"school",  "schools",  "école",      "écoles",     FEMININE,  0, DOORS | BIT(NEW) | BIT(BIG) | BIT(SMALL) | BIT(OLD)},
    {"market",  "markets",  "marché",     "marchés",    MASCULINE, DESTINATION, DOORS | BIT(BIG) | BIT(SMALL)},
    {"beach",   "beaches",  "plage",      "plages",     FEMININE,  DESTINATION | TASTE, BIT(BEAUTIFUL) | BIT(SMALL) | BIT(BIG)},
    {"park",    "parks",    "parc",       "parcs",      MASCULINE, DESTINATION, DOORS | BIT(BIG) | BIT(SMALL) | BIT(BEAUTIFUL)},
    {"library", "libraries", "bibliothèque", "bibliothèques", FEMININE, DESTINATION, DOORS | BIT(BIG) | BIT(NEW) | BIT(SMALL)},
    {"station", "stations", "gare",       "gares",      FEMININE,  DESTINATION, DOORS | BIT(BIG) | BIT(NEW) | BIT(OLD)},
    {"hospital", "hospitals", "hôpital",  "hôpitaux",   MASCULINE, DESTINATION, BIT(BIG) | BIT(NEW) | BIT(OLD)},
    {"restaurant", "restaurants", "restaurant", "restaurants", MASCULINE, DESTINATION | TASTE, DOORS | BIT(GOOD) | BIT(NEW) | BIT(SMALL) | BIT(EXPENSIVE) | BIT(FRENCH) | BIT(ITALIAN)},
    {"hotel",   "hotels",   "hôtel",      "hôtels",     MASCULINE, HOME, DOORS | BIT(BIG) | BIT(SMALL) | BIT(NEW) | BIT(OLD) | BIT(BEAUTIFUL) | BIT(EXPENSIVE)},

    {"film",    "films",    "film",       "films",      MASCULINE, FILM | TASTE, BIT(OLD) | BIT(NEW) | BIT(GOOD) | BIT(INTERESTING) | BIT(FRENCH) | BIT(ITALIAN)},
    {"song",    "songs",    "chanson",    "chansons",   FEMININE,  SOUND | SONG | TASTE, BIT(OLD) | BIT(NEW) | BIT(BEAUTIFUL) | BIT(FRENCH) | BIT(ITALIAN)},
    {"music",   NULL,       "musique",    NULL,         FEMININE,  SOUND | TASTE, BIT(FRENCH) | BIT(ITALIAN)},
};

const Name names[] = {
    {"jane", FEMININE}, {"anna", FEMININE}, {"emma", FEMININE}, {"clara", FEMININE},
    {"paul", MASCULINE}, {"david", MASCULINE}, {"simon", MASCULINE}, {"thomas", MASCULINE},
};

const Land lands[] = {
    {"africa", "la", "afrique", "en", "de"}, {"italy", "la", "italie", "en", "de"},
    {"france", "la", "france", "en", "de"},  {"china", "la", "chine", "en", "de"},
    {"canada", "le", "canada", "au", "du"},  {"japan", "le", "japon", "au", "du"},
    {"the united states", "les", "états-unis", "aux", "des"},
    {"paris", "", "paris", "à", "de"}, {"london", "", "londres", "à", "de"},
    {"rome", "", "rome", "à", "de"},
};

const Expression times[] = {
    {"every day", "tous les jours", "000112", WITH(PRESENT) | DAILY},
    {"every morning", "tous les matins", "000112", WITH(PRESENT) | DAILY},
    {"every evening", "tous les soirs", "000112", WITH(PRESENT) | DAILY},
    {"in the morning", "le matin", "001021", WITH(PRESENT) | DAILY},
    {"in the evening", "le soir", "001021", WITH(PRESENT) | DAILY},
    {"on mondays", "le lundi", "0011", WITH(PRESENT) | DAILY},
    {"on fridays", "le vendredi", "0011", WITH(PRESENT) | DAILY},
    {"on sundays", "le dimanche", "0011", WITH(PRESENT) | DAILY},
    {"every week", "toutes les semaines", "000112", WITH(PRESENT) | DAILY},
    {"every year", "tous les ans", "000112", WITH(PRESENT) | YEARLY},
    {"in winter", "en hiver", "0011", WITH(PRESENT) | YEARLY},
    {"in spring", "au printemps", "0011", WITH(PRESENT) | YEARLY},
    {"in summer", "en été", "0011", WITH(PRESENT) | YEARLY},
    {"in autumn", "en automne", "0011", WITH(PRESENT) | YEARLY},
    {"in january", "en janvier", "0011", WITH(PRESENT) | WITH(FUTURE) | WITH(PAST) | YEARLY},
    {"in april", "en avril", "0011", WITH(PRESENT) | WITH(FUTURE) | WITH(PAST) | YEARLY},
    {"in august", "en août", "0011", WITH(PRESENT) | WITH(FUTURE) | WITH(PAST) | YEARLY},
    {"in september", "en septembre", "0011", WITH(PRESENT) | WITH(FUTURE) | WITH(PAST) | YEARLY},
    {"today", "aujourd'hui", "00", WITH(PRESENT) | DAILY | ONCE},
    {"tomorrow", "demain", "00", WITH(FUTURE)},
    {"next week", "la semaine prochaine", "101102", WITH(FUTURE)},
    {"next year", "l' année prochaine", "101102", WITH(FUTURE) | YEARLY},
    {"on monday", "lundi", "0010", WITH(FUTURE) | WITH(PAST)},
    {"on friday", "vendredi", "0010", WITH(FUTURE) | WITH(PAST)},
    {"on sunday", "dimanche", "0010", WITH(FUTURE) | WITH(PAST)},
    {"yesterday", "hier", "00", WITH(PAST)},
    {"last week", "la semaine dernière", "101102", WITH(PAST)},
    {"last year", "l' année dernière", "101102", WITH(PAST) | YEARLY},
};

const Expression pastimes[] = {  // after "play"
    {"the piano", "du piano", "0011", 0},     {"the guitar", "de la guitare", "000112", 0},
    {"the violin", "du violon", "0011", 0},   {"football", "au football", "0001", 1},
    {"tennis", "au tennis", "0001", 1},       {"cards", "aux cartes", "0001", 1},
};
const Expression languages[] = {
    {"french", "français", "00", 0}, {"english", "anglais", "00", 0},
    {"italian", "italien", "00", 0}, {"japanese", "japonais", "00", 0},
};
const Expression vehicles[] = {
    {"by train", "en train", "0011", 0}, {"by car", "en voiture", "0011", 0},
    {"by plane", "en avion", "0011", 0}, {"by bus", "en bus", "0011", 0},
};
const Expression frequencies[] = {
    {"often", "souvent", "00", 0}, {"always", "toujours", "00", 0}, {"sometimes", "parfois", "00", 0},
};
const Expression needs[] = {{"hungry", "faim", "00", FOOD}, {"thirsty", "soif", "00", DRINK}};

/* Where things, animals and people are found. */
const Place positions[] = {
    {"in", "dans", "garden", ANIMAL | PEOPLE | FLOWER | FAMILY},
    {"in", "dans", "kitchen", PET | FOOD | FAMILY | FURNITURE},
    {"in", "dans", "street", PET | PEOPLE | VEHICLE},
    {"in", "dans", "park", PEOPLE | FAMILY | ANIMAL},
    {"in", "dans", "house", PET | PEOPLE | FAMILY | FURNITURE},
    {"in", "dans", "car", PET | FAMILY | SMALL_THING},
    {"in", "dans", "tree", BIRD},
    {"on", "sur", "table", SMALL_THING | FOOD | DRINK | FLOWER | READING},
    {"on", "sur", "chair", SMALL_THING | CLOTHES | PET},
    {"on", "sur", "bed", SMALL_THING | CLOTHES | PET},
    {"under", "sous", "bed", PET | SMALL_THING},
    {"under", "sous", "table", PET},
    {"behind", "derrière", "house", PET | VEHICLE | ANIMAL},
    {"behind", "derrière", "door", PET},
    {"in front of", "devant", "house", VEHICLE | PET},
    {"in front of", "devant", "church", PEOPLE | VEHICLE},
    {"in front of", "devant", "station", PEOPLE | VEHICLE},
    {"in front of", "devant", "school", PEOPLE | VEHICLE},
    {"near", "près de", "window", PET | FURNITURE | FLOWER},
    {"near", "près de", "hotel", VEHICLE | PEOPLE},
    {"near", "près de", "church", VEHICLE},
};

/* Where people work; "school" and "home" stand without an article in English. */
const Place workplaces[] = {
    {"at", "à", "hospital", 0}, {"at", "à", "library", 0}, {"at", "à", "station", 0},
    {"at", "à", "market", 0},   {"at", "à", "museum", 0},  {"at", "à", "restaurant", 0},
    {"at", "à", "hotel", 0},    {"in", "dans", "garden", 0}, {"in", "dans", "kitchen", 0},
};
// clang-format on

const int noun_count = COUNT(nouns), name_count = COUNT(names), land_count = COUNT(lands);
const int time_count = COUNT(times), pastime_count = COUNT(pastimes);
const int language_count = COUNT(languages), vehicle_count = COUNT(vehicles);
const int frequency_count = COUNT(frequencies), need_count = COUNT(needs);
const int position_count = COUNT(positions);
const int workplace_count = COUNT(workplaces);

const Noun *noun_find(const char *en)
{
    for (int n = 0; n < noun_count; n++)
        if (nouns[n].en && strcmp(nouns[n].en, en) == 0) return &nouns[n];
    assert(!"the word is in the table");
    return nouns;
}
