/* usual-model.cc -- SentencePiece models as people have them; see usual-model.h. */
#include "tests/usual-model.h"

#include <cstdlib>
#include <cstring>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string>
#include <vector>

class Lines : public sentencepiece::SentenceIterator
{
  public:
    Lines(const char *const *line, size_t lines) : line_(line), lines_(lines)
    {
        fetch();
    }
    bool done() const override
    {
        return i_ >= lines_;
    }
    void Next() override
    {
        i_++;
        fetch();
    }
    const std::string &value() const override
    {
        return value_;
    }
    sentencepiece::util::Status status() const override
    {
        return sentencepiece::util::Status();
    }

  private:
    void fetch()
    {
        if (!done()) value_ = line_[i_];
    }
    const char *const *line_;
    size_t lines_, i_ = 0;
    std::string value_;
};

unsigned char *usual_model_learn(size_t *size, const char *const *line, size_t lines,
                                 const char *options)
{
    Lines text(line, lines);
    std::string model;
    const std::string quiet = std::string(options) + " --minloglevel=3";
    if (!sentencepiece::SentencePieceTrainer::Train(quiet, &text, &model).ok()) return nullptr;
    unsigned char *bytes = (unsigned char *)malloc(model.size());
    memcpy(bytes, model.data(), model.size());
    *size = model.size();
    return bytes;
}

char *usual_model_pieces(const void *model, size_t size, const char *text)
{
    sentencepiece::SentencePieceProcessor processor;
    std::vector<int> ids;
    std::string joined;
    if (!processor.LoadFromSerializedProto(std::string((const char *)model, size)).ok() ||
        !processor.Encode(text, &ids).ok()) {
        return strdup("(the library refuses)");
    }
    for (int id : ids) joined += (joined.empty() ? "" : "|") + processor.IdToPiece(id);
    return strdup(joined.c_str());
}
