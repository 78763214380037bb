/* verbs.c -- the verbs of the toy corpus, conjugated.
 *
 * French forms in the order je, vous, il, nous, ils; "vous" is also the imperative. */
#include "data/toy/lexicon.h"

#include <stddef.h>

// clang-format off
const Verb verbs[VERBS] = {
    [TO_VISIT]    = {"visit", "visits", "visited", "", {"visite", "visitez", "visite", "visitons", "visitent"}, "visiter", "visiter", "visité", false, SIGHT, YEARLY},
    [TO_SEE]      = {"see", "sees", "saw", "", {"vois", "voyez", "voit", "voyons", "voient"}, "voir", "verr", "vu", false, PEOPLE | FAMILY | ANIMAL | VEHICLE | BOAT | SIGHT, ONCE},
    [TO_READ]     = {"read", "reads", NULL, "", {"lis", "lisez", "lit", "lisons", "lisent"}, "lire", "lir", "lu", false, READING, DAILY},
    [TO_WRITE]    = {"write", "writes", "wrote", "", {"écris", "écrivez", "écrit", "écrivons", "écrivent"}, "écrire", NULL, "écrit", false, WRITING, DAILY},
    [TO_BUY]      = {"buy", "buys", "bought", "", {"achète", "achetez", "achète", "achetons", "achètent"}, "acheter", "achèter", "acheté", false, CLOTHES | VEHICLE | BOAT | FURNITURE | FLOWER | FOOD | HOME | SMALL_THING, ONCE},
    [TO_SELL]     = {"sell", "sells", "sold", "", {"vends", "vendez", "vend", "vendons", "vendent"}, "vendre", "vendr", "vendu", false, CLOTHES | VEHICLE | BOAT | FURNITURE | FLOWER | FOOD | HOME, ONCE},
    [TO_EAT]      = {"eat", "eats", "ate", "", {"mange", "mangez", "mange", "mangeons", "mangent"}, "manger", "manger", "mangé", false, FOOD, DAILY},
    [TO_DRINK]   = {"drink", "drinks", "drank", "", {"bois", "buvez", "boit", "buvons", "boivent"}, "boire", NULL, "bu", false, DRINK, DAILY},
    [TO_LIKE]     = {"like", "likes", NULL, "", {"aime", "aimez", "aime", "aimons", "aiment"}, "aimer", NULL, NULL, false, TASTE | CLOTHES, 0},
    [TO_LOVE]     = {"love", "loves", NULL, "", {"adore", "adorez", "adore", "adorons", "adorent"}, "adorer", NULL, NULL, false, TASTE, 0},
    [TO_WEAR]     = {"wear", "wears", NULL, "", {"porte", "portez", "porte", "portons", "portent"}, "porter", NULL, NULL, false, CLOTHES, ONCE},
    [TO_LOOK_FOR] = {"look", "looks", NULL, "for", {"cherche", "cherchez", "cherche", "cherchons", "cherchent"}, "chercher", NULL, NULL, false, SMALL_THING | PET | CLOTHES | FAMILY, 0},
    [TO_FIND]     = {"find", "finds", "found", "", {"trouve", "trouvez", "trouve", "trouvons", "trouvent"}, "trouver", NULL, "trouvé", false, SMALL_THING | PET | CLOTHES, 0},
    [TO_WATCH]    = {"watch", "watches", "watched", "", {"regarde", "regardez", "regarde", "regardons", "regardent"}, "regarder", NULL, "regardé", false, FILM | BIRD, DAILY},
    [TO_LISTEN]   = {"listen", "listens", "listened", "to", {"écoute", "écoutez", "écoute", "écoutons", "écoutent"}, "écouter", NULL, "écouté", false, SOUND, DAILY},
    [TO_WAIT]     = {"wait", "waits", "waited", "for", {"attends", "attendez", "attend", "attendons", "attendent"}, "attendre", NULL, "attendu", false, PEOPLE | FAMILY | WHEELS, ONCE},
    [TO_HELP]     = {"help", "helps", "helped", "", {"aide", "aidez", "aide", "aidons", "aident"}, "aider", NULL, "aidé", false, PEOPLE | FAMILY, DAILY},
    [TO_KNOW]     = {"know", "knows", NULL, "", {"connais", "connaissez", "connaît", "connaissons", "connaissent"}, "connaître", NULL, NULL, false, PEOPLE, 0},
    [TO_MEET]     = {"meet", "meets", "met", "", {"rencontre", "rencontrez", "rencontre", "rencontrons", "rencontrent"}, "rencontrer", "rencontrer", "rencontré", false, PEOPLE | FAMILY, ONCE},
    [TO_OPEN]    = {"open", "opens", "opened", "", {"ouvre", "ouvrez", "ouvre", "ouvrons", "ouvrent"}, "ouvrir", NULL, "ouvert", false, OPENING, DAILY},
    [TO_CLOSE]    = {"close", "closes", "closed", "", {"ferme", "fermez", "ferme", "fermons", "ferment"}, "fermer", NULL, "fermé", false, OPENING, DAILY},
    [TO_SING]     = {"sing", "sings", "sang", "", {"chante", "chantez", "chante", "chantons", "chantent"}, "chanter", NULL, "chanté", false, SONG, DAILY},
    [TO_GIVE]     = {"give", "gives", "gave", "", {"donne", "donnez", "donne", "donnons", "donnent"}, "donner", "donner", "donné", false, SMALL_THING | FLOWER | CLOTHES, 0},
    [TO_SHOW]     = {"show", "shows", "showed", "", {"montre", "montrez", "montre", "montrons", "montrent"}, "montrer", "montrer", "montré", false, SMALL_THING | VEHICLE | BOAT | HOME | CLOTHES, 0},
    [TO_HAVE]     = {"have", "has", NULL, "", {"ai", "avez", "a", "avons", "ont"}, "avoir", NULL, NULL, false, PET | VEHICLE | BOAT | CLOTHES | HOME | SMALL_THING, 0},
    [TO_PLAY]     = {"play", "plays", "played", "", {"joue", "jouez", "joue", "jouons", "jouent"}, "jouer", "jouer", "joué", false, 0, DAILY | YEARLY},
    [TO_SPEAK]    = {"speak", "speaks", NULL, "", {"parle", "parlez", "parle", "parlons", "parlent"}, "parler", NULL, NULL, false, 0, 0},
    [TO_GO]       = {"go", "goes", "went", "", {"vais", "allez", "va", "allons", "vont"}, "aller", "ir", "allé", true, DESTINATION, DAILY | YEARLY},
    [TO_LIVE]     = {"live", "lives", NULL, "", {"habite", "habitez", "habite", "habitons", "habitent"}, "habiter", NULL, NULL, false, 0, 0},
    [TO_COME]     = {"come", "comes", NULL, "", {"viens", "venez", "vient", "venons", "viennent"}, "venir", NULL, NULL, true, 0, 0},
    [TO_WORK]     = {"work", "works", "worked", "", {"travaille", "travaillez", "travaille", "travaillons", "travaillent"}, "travailler", "travailler", "travaillé", false, 0, DAILY | YEARLY},
    [TO_STAY]     = {"stay", "stays", "stayed", "", {"reste", "restez", "reste", "restons", "restent"}, "rester", "rester", "resté", true, 0, DAILY},
    [TO_THINK]    = {"think", "thinks", NULL, "", {"pense", "pensez", "pense", "pensons", "pensent"}, "penser", NULL, NULL, false, 0, 0},
    [TO_KNOW_THAT] = {"know", "knows", NULL, "", {"sais", "savez", "sait", "savons", "savent"}, "savoir", NULL, NULL, false, 0, 0},
    [TO_WANT]     = {"want", "wants", NULL, "to", {"veux", "voulez", "veut", "voulons", "veulent"}, "vouloir", NULL, NULL, false, 0, 0},
    [CAN]      = {"can", "can", NULL, "", {"peux", "pouvez", "peut", "pouvons", "peuvent"}, "pouvoir", NULL, NULL, false, 0, 0},
    [MUST]     = {"must", "must", NULL, "", {"dois", "devez", "doit", "devons", "doivent"}, "devoir", NULL, NULL, false, 0, 0},
    [TO_BE]       = {"be", "is", NULL, "", {"suis", "êtes", "est", "sommes", "sont"}, "être", NULL, NULL, false, 0, 0},
};
// clang-format on
