using Treepie.Indexing.Analysis.Stemming;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Reduces words to their stems.</summary>
internal sealed class StemFilter(Stemmer stemmer) : TermFilter
{
    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        StemWord word = chain.Stemmed;
        if (!word.TryLoad(term))
        {
            chain.Pass(term, place + 1);
            return;
        }

        stemmer.Stem(word);
        TokenBuffer room = chain.Room(place); // copied, because a stemmer that follows works on the same word
        ReadOnlySpan<byte> stem = word.ToUtf8();
        stem.CopyTo(room.Room(stem.Length));
        room.Advance(stem.Length);
        chain.Pass(room.Written, place + 1);
    }
}
