namespace Treepie.Indexing.Analysis;

/// <summary>
/// Words by Unicode's word boundaries (UAX #29), in full case folding. By the name <c>RavenStandardAnalyzer</c> every word
/// is kept, which is the default of full-text fields; by the name <c>StandardAnalyzer</c> the usual English stop words are left
/// out.
/// </summary>
internal sealed class StandardAnalyzer(StopWords? stopWords = null) : Analyzer
{
    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
    {
        var words = new StandardTokens(text, sink.Scratch);
        int step = 1;
        while (words.MoveNext())
        {
            if (stopWords is not null && stopWords.Contains(words.Current))
            {
                step++;
                continue;
            }

            sink.Add(words.Current, words.Start, words.End, step);
            step = 1;
        }
    }
}
