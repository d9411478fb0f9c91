using Treepie.Indexing.Analysis.Stemming;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Reduces the words of the standard analyzer to their stems by the rules of a language: <c>EnglishAnalyzer</c>,
/// <c>GermanAnalyzer</c> and so on. No word is removed: frequent ones have little weight, and phrases need them.
/// </summary>
internal sealed class StemAnalyzer(Stemmer stemmer) : Analyzer
{
    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
    {
        var words = new StandardTokens(text, sink.Scratch);
        StemWord word = sink.Word;
        while (words.MoveNext())
        {
            ReadOnlySpan<byte> term = words.Current;
            if (word.TryLoad(term))
            {
                stemmer.Stem(word);
                term = word.ToUtf8();
            }

            if (!term.IsEmpty)
                sink.Add(term, words.Start, words.End);
        }
    }
}
