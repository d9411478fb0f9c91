namespace Treepie.Indexing.Analysis;

/// <summary>
/// Cuts text into terms. One analyzer serves every field that names it, from any number of threads at once: it holds no
/// state between calls. The same text must always give the same terms, or entries cannot be found by what they were indexed with.
/// </summary>
/// <remarks>Own analyzers derive from this class and are made known by name with <see cref="AnalyzerSet.With"/>.</remarks>
public abstract class Analyzer
{
    /// <summary>
    /// The analyzer for the text of a query over a field that this one indexed; mostly itself. One that indexes more terms
    /// than a text has words (fragments, synonyms) gives one that finds whole words.
    /// </summary>
    public virtual Analyzer ForQueries => this;

    /// <summary>
    /// Gives each term of a text to <paramref name="sink"/>, in order.
    /// </summary>
    /// <param name="text">UTF-8 of any length; it may be broken, which is no error.</param>
    /// <param name="sink">Takes the terms; used during this call only.</param>
    public abstract void Analyze(ReadOnlySpan<byte> text, TokenSink sink);

    /// <summary>
    /// A piece of a word as it would stand within a term: what prefixes, suffixes and wildcards are compared with. Folded to
    /// lower case unless an analyzer keeps case.
    /// </summary>
    /// <param name="fragment">UTF-8 of a query.</param>
    public virtual byte[] Normalize(ReadOnlySpan<byte> fragment) => CaseFolding.FoldFully(fragment);

    /// <summary>Whether a text may be refused after some of its terms were given; what is not ours may do anything.</summary>
    internal virtual bool MayThrow => GetType().Assembly != typeof(Analyzer).Assembly;
}
