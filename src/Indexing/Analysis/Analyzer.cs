namespace Treepie.Indexing.Analysis;

/// <summary>
/// Splits text into terms. One instance serves every field that names it, concurrently from any number of threads: it must keep
/// no state between calls. The same text must always yield the same terms; otherwise entries cannot be found by the terms with
/// which they were indexed.
/// </summary>
/// <remarks>Custom analyzers derive from this class and are registered by name with <see cref="AnalyzerSet.With"/>.</remarks>
public abstract class Analyzer
{
    /// <summary>
    /// The analyzer of query texts for fields indexed with this analyzer; by default the same. An analyzer that indexes more
    /// terms than a text has words (n-grams, synonyms) returns one that searches for whole words.
    /// </summary>
    public virtual Analyzer ForQueries => this;

    /// <summary>Passes each term of a text to <paramref name="sink"/>, in order.</summary>
    /// <param name="text">UTF-8 of any length; invalid UTF-8 is not an error.</param>
    /// <param name="sink">Receives the terms; valid only during this call.</param>
    public abstract void Analyze(ReadOnlySpan<byte> text, TokenSink sink);

    /// <summary>
    /// Returns a fragment of a word in the form that it has within a term, for prefixes, suffixes and wildcards. Converted to
    /// lower case unless the analyzer is case-sensitive.
    /// </summary>
    /// <param name="fragment">A fragment in UTF-8.</param>
    public virtual byte[] Normalize(ReadOnlySpan<byte> fragment) => CaseFolding.FoldFully(fragment);

    /// <summary>
    /// Whether it may throw after some terms of a text were passed on. Assumed of analyzers from other assemblies.
    /// </summary>
    internal virtual bool MayThrow => GetType().Assembly != typeof(Analyzer).Assembly;
}
