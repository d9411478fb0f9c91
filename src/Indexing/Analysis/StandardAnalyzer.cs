namespace Treepie.Indexing.Analysis;

/// <summary>
/// Splits a text into words at Unicode word boundaries (UAX #29), with full case folding. As <c>RavenStandardAnalyzer</c>,
/// the default of full-text fields, it keeps every word; as <c>StandardAnalyzer</c> it removes the usual English stop words.
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
