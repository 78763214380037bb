/* lexicon.c -- the words, their forms and their features.
 *
 * An underscore is a space. Digits after a French word choose the English words that it
 * translates, from 0: le01 in "in the morning" translates "in the". */
#include "data/toy/grammar.h"

// clang-format off
const Adjective adjectives[] = {
    {SMALL, "small", {"petit", "petite"}}, {BIG, "big", {"grand", "grande"}},
    {OLD, "old", {"vieil", "vieille"}}, {BEAUTIFUL, "beautiful", {"bel", "belle"}},
    {NEW, "new", {"nouvel", "nouvelle"}}, {YOUNG, "young", {"jeune", "jeune"}},
    {GOOD, "good", {"bon", "bonne"}}, {LITTLE, "little", {"petit", "petite"}},
    {RED, "red", {"rouge", "rouge"}}, {BLUE, "blue", {"bleu", "bleue"}},
    {GREEN, "green", {"vert", "verte"}}, {BLACK, "black", {"noir", "noire"}},
    {WHITE, "white", {"blanc", "blanche"}}, {EXPENSIVE, "expensive", {"cher", "chère"}},
    {INTERESTING, "interesting", {"intéressant", "intéressante"}},
    {TALL, "tall", {"grand", "grande"}}, {TIRED, "tired", {"fatigué", "fatiguée"}},
    {HAPPY, "happy", {"heureux", "heureuse"}}, {SAD, "sad", {"triste", "triste"}},
    {SICK, "sick", {"malade", "malade"}}, {0}};

#define OUTFIT (COLOUR | OLD | NEW | BEAUTIFUL | EXPENSIVE)
const Noun nouns[] = {
    [GARDEN] = {TASTE, "garden", "gardens", "jardin", M, BIG | SMALL | BEAUTIFUL | OLD},
    [KITCHEN] = {PUBLIC, "kitchen", "kitchens", "cuisine", F, 0},
    [STREET] = {PUBLIC, "street", "streets", "rue", F, 0},
    [HOUSE] = {HOME | TASTE, "house", "houses", "maison", F, BIG | SMALL | OLD | NEW | WHITE},
    [TABLE] = {FURNITURE, "table", "tables", "table", F, BIG | SMALL | OLD | NEW | EXPENSIVE},
    [BED] = {FURNITURE, "bed", "beds", "lit", M, BIG | SMALL | OLD | NEW},
    [CHURCH] = {SIGHT | PUBLIC, "church", "churches", "église", F, SMALL | OLD | BEAUTIFUL},
    [STATION] = {DESTINATION | PUBLIC, "station", "stations", "gare", F, 0},
    {DESTINATION | PUBLIC, "hospital", "hospitals", "hôpital", M, 0},
    {DESTINATION | PUBLIC, "school", "schools", "école", F, 0},
    {DESTINATION | PUBLIC | SIGHT, "museum", "museums", "musée", M, BIG | OLD | INTERESTING},
    {PEOPLE | PUBLIC, "man", "men", "homme", M, STATE | OLD | YOUNG},
    {PEOPLE | PUBLIC, "woman", "women", "femme", F, STATE | OLD | YOUNG},
    {PEOPLE | PUBLIC | CHILD, "boy", "boys", "garçon", M, STATE | LITTLE},
    {PEOPLE | PUBLIC | CHILD, "girl", "girls", "fille", F, STATE | LITTLE},
    {PEOPLE | PUBLIC | CHILD, "child", "children", "enfant", M, STATE | LITTLE},
    {PEOPLE, "teacher", "teachers", "professeur", M, STATE | GOOD | NEW | YOUNG},
    {PEOPLE, "doctor", "doctors", "médecin", M, STATE | GOOD | OLD},
    {FAMILY, "friend", "friends", "ami", M, STATE | OLD | GOOD},
    {FAMILY, "brother", "brothers", "frère", M, STATE | LITTLE},
    {FAMILY, "sister", "sisters", "sœur", F, STATE | LITTLE},
    {FAMILY, "mother", NULL, "mère", F, STATE}, {FAMILY, "father", NULL, "père", M, STATE},
    {FAMILY, NULL, "parents", "parent", M, STATE},
    {PET | TASTE, "cat", "cats", "chat", M, SMALL | OLD | BLACK | WHITE | BEAUTIFUL},
    {PET | TASTE, "dog", "dogs", "chien", M, SMALL | OLD | BLACK | WHITE | BEAUTIFUL},
    {BIRD | TASTE | PUBLIC, "bird", "birds", "oiseau", M, SMALL | BLUE | BLACK | BEAUTIFUL},
    {READING | TASTE | THING, "book", "books", "livre", M, OLD | NEW | GOOD | INTERESTING},
    {LETTER, "letter", "letters", "lettre", F, OLD | BEAUTIFUL | INTERESTING},
    {READING | THING, "newspaper", "newspapers", "journal", M, OLD | INTERESTING},
    {LETTER | TASTE, "story", "stories", "histoire", F, OLD | BEAUTIFUL | INTERESTING},
    {FOOD | TASTE, "apple", "apples", "pomme", F, RED | GREEN | GOOD | SMALL},
    {FOOD | TASTE, "cake", "cakes", "gâteau", M, GOOD | SMALL},
    {FOOD | TASTE, "egg", "eggs", "œuf", M, 0}, {FOOD | TASTE, "bread", NULL, "pain", M, WHITE},
    {FOOD | TASTE, "soup", NULL, "soupe", F, 0}, {BEVERAGE, "water", NULL, "eau", F, 0},
    {BEVERAGE | TASTE, "tea", NULL, "thé", M, BLACK | GREEN},
    {BEVERAGE, "milk", NULL, "lait", M, 0}, {THING, "key", "keys", "clé", F, SMALL | OLD},
    {CLOTHES | TASTE, "shirt", "shirts", "chemise", F, OUTFIT},
    {CLOTHES | TASTE, "hat", "hats", "chapeau", M, OUTFIT},
    {CLOTHES | TASTE, NULL, "shoes", "chaussure", F, OUTFIT},
    {VEHICLE | TASTE, "car", "cars", "voiture", F, OUTFIT | SMALL},
    {FLOWER | TASTE, "flower", "flowers", "fleur", F, RED | WHITE | BLUE | BEAUTIFUL | SMALL},
    {SOUND | TASTE, "song", "songs", "chanson", F, OLD | NEW | BEAUTIFUL},
    {SOUND | TASTE | PUBLIC, "music", NULL, "musique", F, 0}, {0}};

const Noun names[] = {
    {1, "jane", NULL, "jane", F, 0}, {1, "anna", NULL, "anna", F, 0},
    {1, "emma", NULL, "emma", F, 0}, {1, "clara", NULL, "clara", F, 0},
    {1, "paul", NULL, "paul", M, 0}, {1, "david", NULL, "david", M, 0},
    {1, "simon", NULL, "simon", M, 0}, {1, "thomas", NULL, "thomas", M, 0}, {0}};

const Determiner determiners[] = {
    {THE, {"the", "the"}, {"le", "la", "les"}}, {A, {"a", ""}, {"un", "une", "des"}},
    {THIS, {"this", "these"}, {"cet", "cette", "ces"}}, {NO, {"no", "no"}, {"de", "de", "de"}},
    {SOME, {"", ""}, {"de_le", "de_la", ""}}, {GENERAL, {"", ""}, {"le", "la", "les"}}, {0}};
const Determiner possessives[6] = {
    {MY, {"my", "my"}, {"mon", "ma", "mes"}}, {MY, {"your", "your"}, {"votre", "votre", "vos"}},
    {MY, {"his", "his"}, {"son", "sa", "ses"}}, {MY, {"our", "our"}, {"notre", "notre", "nos"}},
    {MY, {"their", "their"}, {"leur", "leur", "leurs"}},
    {MY, {"her", "her"}, {"son", "sa", "ses"}}};

const Expression lands[] = {  // and pastimes
    {LANDS, "africa", "la_afrique", "en0_afrique1"}, {LANDS, "paris", "paris", "à0_paris1"},
    {LANDS, "france", "la_france", "en0_france1"}, {LANDS, "china", "la_chine", "en0_chine1"},
    {LANDS, "canada", "le_canada", "au0_canada1"}, {LANDS, "london", "londres", "à0_londres1"},
    {LANDS, "the_united_states", "les0_états-unis12", "aux01_états-unis23"},
    {LANDS, "italy", "la_italie", "en0_italie1"}, {PASTIME, "tennis", "au_tennis", ""},
    {PASTIME, "the_piano", "du0_piano1", ""}, {PASTIME, "the_guitar", "de0_la0_guitare1", ""},
    {PASTIME, "football", "au_football", ""}, {PASTIME, "cards", "aux_cartes", ""}, {0}};

#define IRREGULAR(is, en, third, past, je, vous, il, nous, ils, ...) \
    {is, #en, #third, #past, {"", ""}, {je, vous, il, nous, ils}, __VA_ARGS__}
#define REGULAR(is, en, third, past, at, fr_at, stem, ...) \
    {is, #en, #third, #past, {at, fr_at}, {stem "e", stem "ez", stem "e", stem "ons", \
     stem "ent"}, stem "er", stem "er", stem "é", __VA_ARGS__}
#define USUAL (THE | A | THIS | MY)
const Verb verbs[] = {
    IRREGULAR(BE, be, is, , "suis", "êtes", "est", "sommes", "sont", "être", "", "", 0, 0, 0),
    IRREGULAR(HAVE, have, has, , "ai", "avez", "a", "avons", "ont", "avoir", "", "", 0, A, PET),
    REGULAR(VISIT, visit, visits, visited, "", "", "visit", YEARLY | FUTURE, THE | A | THIS,
        SIGHT | LANDS),
    IRREGULAR(SEE, see, sees, saw, "vois", "voyez", "voit", "voyons", "voient", "voir", "verr",
        "vu", ONCE | FUTURE, USUAL, PEOPLE | FAMILY | PET | BIRD | VEHICLE | SIGHT),
    IRREGULAR(READ, read, reads, , "lis", "lisez", "lit", "lisons", "lisent", "lire", "", "",
        DAILY, USUAL, READING | LETTER),
    IRREGULAR(WRITE, write, writes, wrote, "écris", "écrivez", "écrit", "écrivons", "écrivent",
        "écrire", "", "écrit", DAILY, THE | A | THIS, LETTER),
    IRREGULAR(BUY, buy, buys, bought, "achète", "achetez", "achète", "achetons", "achètent",
        "acheter", "achèter", "acheté", DAILY | FUTURE, THE | A | THIS,
        CLOTHES | VEHICLE | FURNITURE | FLOWER | FOOD | HOME | THING),
    IRREGULAR(EAT, eat, eats, ate, "mange", "mangez", "mange", "mangeons", "mangent", "manger",
        "", "mangé", DAILY, THE | A, FOOD),
    IRREGULAR(DRINK, drink, drinks, drank, "bois", "buvez", "boit", "buvons", "boivent",
        "boire", "", "bu", DAILY, A, BEVERAGE),
    REGULAR(LIKE, like, likes, , "", "", "aim", 0, GENERAL | THE | THIS | MY, TASTE),
    REGULAR(WEAR, wear, wears, , "", "", "port", ONCE, A | MY | THE, CLOTHES),
    REGULAR(LOOK, look, looks, , "for", "", "cherch", ONCE, THE | MY, THING | PET | CLOTHES),
    REGULAR(FIND, find, finds, found, "", "", "trouv", ONCE, THE | A | MY, THING | CLOTHES),
    REGULAR(LISTEN, listen, listens, listened, "to", "", "écout", DAILY, THE | A | THIS, SOUND),
    REGULAR(HELP, help, helps, helped, "", "", "aid", DAILY, THE | THIS | MY, PEOPLE | FAMILY),
    IRREGULAR(KNOW, know, knows, , "connais", "connaissez", "connaît", "connaissons",
        "connaissent", "connaître", "", "", 0, THE | THIS | MY, PEOPLE),
    REGULAR(PLAY, play, plays, played, "", "", "jou", DAILY | YEARLY, 0, PASTIME),
    REGULAR(LIVE, live, lives, , "in", "dans", "habit", 0, A | THIS, HOME | LANDS),
    REGULAR(WORK, work, works, worked, "at", "à", "travaill", DAILY, THE, DESTINATION),
    {GO, "go", "goes", "went", {"to", "à"}, {"vais", "allez", "va", "allons", "vont"}, "aller",
        "ir", "allé", DAILY | FUTURE | ETRE, THE, DESTINATION | LANDS},
    IRREGULAR(CAN, can, can, , "peux", "pouvez", "peut", "pouvons", "peuvent", "", "", "", 0, 0,
        0),
    IRREGULAR(MUST, must, must, , "dois", "devez", "doit", "devons", "doivent", "", "", "", 0,
        0, 0),
    {0}};

const Expression times[] = {
    {PRESENT | PAST | FUTURE | YEARLY, "in_september", "en0_septembre1", ""},
    {PRESENT | DAILY | EVERY, "every_day", "tous0_les0_jours1", ""},
    {PRESENT | DAILY, "in_the_morning", "le01_matin2", ""},
    {PRESENT | DAILY, "in_the_evening", "le01_soir2", ""},
    {PRESENT | DAILY, "on_sundays", "le0_dimanche1", ""},
    {PRESENT | YEARLY, "in_winter", "en0_hiver1", ""},
    {PRESENT | DAILY | ONCE, "today", "aujourd'hui", ""}, {PAST, "yesterday", "hier", ""},
    {PAST, "last_week", "la1_semaine1_dernière0", ""}, {FUTURE, "tomorrow", "demain", ""},
    {PAST | FUTURE, "on_sunday", "dimanche01", ""},
    {FUTURE, "next_week", "la1_semaine1_prochaine0", ""}, {0}};

const Expression adverbs[] = {
    {NEVER, "never", "jamais", ""}, {1, "often", "souvent", ""}, {1, "always", "toujours", ""},
    {0}};
const Expression conjunctions[] = {
    {1, "and", "et", ""}, {1, "but", "mais", ""}, {1, "because", "parce_que", ""}, {0}};

const Position positions[] = {
    {PET | BIRD | PEOPLE | FLOWER | FAMILY, {"in", "dans"}, GARDEN},
    {PET | FOOD | FAMILY | FURNITURE, {"in", "dans"}, KITCHEN},
    {THING | FOOD | BEVERAGE | FLOWER | READING, {"on", "sur"}, TABLE},
    {PET | PEOPLE | VEHICLE, {"in", "dans"}, STREET}, {PET | THING, {"under", "sous"}, BED},
    {PET | VEHICLE, {"behind", "derrière"}, HOUSE},
    {PEOPLE | FAMILY, {"in_front_of", "devant"}, CHURCH},
    {VEHICLE | PEOPLE, {"near", "près_de"}, STATION}, {0}};

const Pair pairs[] = {
    {CLOTHES | VEHICLE, LIKE, BUY, true, false}, {CLOTHES, FIND, BUY, true, false},
    {READING, BUY, READ, true, false}, {THING | PET | CLOTHES, LOOK, FIND, true, false},
    {READING | LETTER, READ, LIKE, true, false}, {SOUND, LISTEN, LIKE, false, false},
    {SOUND, LISTEN, LIKE, true, false}, {CLOTHES, LIKE, WEAR, true, false},
    {CLOTHES, BUY, WEAR, false, false}, {FOOD, BUY, EAT, false, false},
    {PEOPLE, SEE, KNOW, true, false}, {PEOPLE, KNOW, KNOW, true, true},
    {PEOPLE, SEE, SEE, true, true}, {PEOPLE, HELP, KNOW, true, true}, {0}};
