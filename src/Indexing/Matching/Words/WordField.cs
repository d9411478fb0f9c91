using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Words;

/// <summary>A full-text field whose words can be looked for without operators. Of one view.</summary>
/// <param name="view">The view.</param>
/// <param name="number">Its position in the schema.</param>
/// <param name="analyzer">Cuts the text of a query.</param>
/// <param name="terms">Its words.</param>
/// <param name="meter">Counts what is read of lengths.</param>
internal sealed class WordField(IndexView view, int number, Analyzer analyzer, TermTree terms, QueryMeter meter)
{
    private LengthFactors? factors;
    private ChunkReader? norms;

    public string Name { get; } = view.Schema.Fields[number].Name;

    public Analyzer Analyzer => analyzer;

    public TermTree Terms => terms;

    /// <summary>Lengths of the field.</summary>
    public LengthFactors Factors => factors ??= new LengthFactors(Norms, view.Statistics(number));

    /// <summary>Where these are read.</summary>
    public ChunkReader Norms => norms ??= new ChunkReader(view.Norms(number), meter);

    /// <summary>The long lists of its words; there is one.</summary>
    public Tree Postings => view.Postings(TreeNames.Terms(number))!; // whose word has a long list asks
}
