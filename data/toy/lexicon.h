/* lexicon.h -- the words of the toy corpus, English beside French.
 *
 * What may stand with what is data here: a noun says what it is (kinds) and which adjectives suit
 * it; a verb says which kinds it takes as its object and how often one does such a thing. So
 * people read books and wear hats, and no table eats.
 *
 * Every h of these French words is mute: l'hôtel, l'histoire, n'habite. */
#ifndef DATA_TOY_LEXICON_H
#define DATA_TOY_LEXICON_H

#include <stdbool.h>

#define BIT(n) (1u << (n))

typedef enum { MASCULINE, FEMININE } Gender;

/* The order of a French conjugation here. "you" is vous throughout. */
typedef enum { JE, VOUS, IL, NOUS, ILS, PERSONS } Person;

typedef enum { PRESENT, PAST, FUTURE } Tense;

enum {  // kinds of nouns
    PEOPLE = BIT(0),
    FAMILY = BIT(1),     // said with "my", "your", ... only
    COMPANION = BIT(2),  // also said with "my"
    ANIMAL = BIT(3),
    PET = BIT(4),
    BIRD = BIT(5),
    READING = BIT(6),
    WRITING = BIT(7),
    FOOD = BIT(8),
    DRINK = BIT(9),
    CLOTHES = BIT(10),
    VEHICLE = BIT(11),
    WHEELS = BIT(12),  // what one waits for
    FURNITURE = BIT(13),
    FLOWER = BIT(14),
    OPENING = BIT(15),  // doors and windows
    SIGHT = BIT(16),
    TOWN = BIT(17),
    HOME = BIT(18),
    DESTINATION = BIT(19),
    FILM = BIT(20),
    SOUND = BIT(21),
    SONG = BIT(22),
    SMALL_THING = BIT(23),
    BOAT = BIT(24),
    TASTE = BIT(25),  // what one likes in general: music, cats, films
};

typedef enum {
    SMALL,
    BIG,
    OLD,
    BEAUTIFUL,
    NEW,
    YOUNG,
    GOOD,
    LITTLE,  // before the French noun
    RED,
    BLUE,
    GREEN,
    BLACK,
    WHITE,
    YELLOW,  // after it, from here on
    EXPENSIVE,
    INTERESTING,
    FAMOUS,
    DIFFICULT,
    ITALIAN,
    FRENCH,
    HOT,
    COLD,
    TALL,
    TIRED,
    HAPPY,
    SAD,
    SICK,
    OPEN,
    CLOSED,  // said only with "is"
    ADJECTIVES
} AdjectiveId;

typedef struct Adjective {
    const char *en;
    const char *fr[2][2];  // [gender][plural]
    const char *vowel;     // the masculine singular before a vowel, where it has its own
} Adjective;

typedef struct Noun {
    const char *en, *en_plural;  // no en_plural: a mass (bread); no en: plural only (parents)
    const char *fr, *fr_plural;
    Gender gender;
    unsigned kinds;
    unsigned adjectives;  // bits of AdjectiveId
} Noun;

typedef struct Name {
    const char *text;
    Gender gender;
} Name;

/* A country, a continent or a city: "africa" -> "l'afrique", "en afrique", "d'afrique". */
typedef struct Land {
    const char *en;
    const char *article;  // le, la, les; "" for a city
    const char *fr;
    const char *in;    // en, au, aux, à: French does not tell in from to
    const char *from;  // de, du, des
} Land;

/* How often one does it, which decides the times that suit the present tense. */
enum { DAILY = BIT(0), YEARLY = BIT(1), ONCE = BIT(2) };

typedef enum {
    TO_VISIT,
    TO_SEE,
    TO_READ,
    TO_WRITE,
    TO_BUY,
    TO_SELL,
    TO_EAT,
    TO_DRINK,
    TO_LIKE,
    TO_LOVE,
    TO_WEAR,
    TO_LOOK_FOR,
    TO_FIND,
    TO_WATCH,
    TO_LISTEN,
    TO_WAIT,
    TO_HELP,
    TO_KNOW,
    TO_MEET,
    TO_OPEN,
    TO_CLOSE,
    TO_SING,
    TO_GIVE,
    TO_SHOW,
    TO_HAVE,
    TO_PLAY,
    TO_SPEAK,
    TO_GO,
    TO_LIVE,
    TO_COME,
    TO_WORK,
    TO_STAY,
    TO_THINK,
    TO_KNOW_THAT,
    TO_WANT,
    CAN,
    MUST,
    TO_BE,
    VERBS
} VerbId;

typedef struct Verb {
    const char *en, *en_s, *en_past;  // buy, buys, bought; no en_past: not used in the past
    const char *particle;             // "to" of "listens to"; "" if none
    const char *present[PERSONS];
    const char *infinitive;
    const char *future;      // the stem that takes -ai, -ez, -a, -ons, -ont; or NULL
    const char *participle;  // masculine singular
    bool etre;               // its compound past is made with être
    unsigned objects;        // kinds
    unsigned habit;
} Verb;

/* Words that are translated together; links are pairs of digits, English word and French word. */
typedef struct Expression {
    const char *en, *fr, *links;
    unsigned use;
} Expression;

/* The use of a time: DAILY, YEARLY, ONCE, and the tenses that it goes with. */
#define WITH(tense) (BIT(tense) << 8)

/* A place: "under the table" -> "sous la table", for things of the kinds given. */
typedef struct Place {
    const char *en, *fr;
    const char *noun;  // in English, as in the table of nouns
    unsigned kinds;
} Place;

extern const Adjective adjectives[ADJECTIVES];
extern const Verb verbs[VERBS];
extern const Noun nouns[];
extern const Name names[];
extern const Land lands[];
extern const Expression times[], pastimes[], languages[], vehicles[], frequencies[], needs[];
extern const Place positions[], workplaces[];
extern const int noun_count, name_count, land_count, time_count, pastime_count, language_count;
extern const int vehicle_count, frequency_count, need_count, position_count;
extern const int workplace_count;

const Noun *noun_find(const char *en);

#endif
