using Treepie.Store;

namespace Treepie.Computations;

/// <summary>
/// A map of an index that computes: turns a document into zero or more JSON objects, which are indexed by their top-level names
/// as if each were a document. Thread-safe.
/// </summary>
internal abstract class IndexMap
{
    /// <summary>The collections whose documents it maps; empty for all documents.</summary>
    public abstract IReadOnlyList<string> Collections { get; }

    /// <summary>The kind of items it maps.</summary>
    public virtual IndexSourceType Source => IndexSourceType.Documents;

    /// <summary>The kind of items it maps instead of documents; null if it maps documents.</summary>
    public Kind? KindBeside => Source switch
    {
        IndexSourceType.TimeSeries => Kind.TimeSeries,
        IndexSourceType.Counters => Kind.Counter,
        _ => null,
    };

    /// <summary>The name of the time series or counter it maps; null for all names, or if it maps documents.</summary>
    public virtual string? BesideName => null;

    /// <summary>The fields of its objects as far as they are known from the source text.</summary>
    public abstract IReadOnlyList<MappedField> Fields { get; }

    /// <summary>
    /// The names among <see cref="Fields"/> whose value is known to be, in every object, a copy of the document's member of the
    /// same name.
    /// </summary>
    public virtual IReadOnlyCollection<string> Copied => [];

    /// <summary>The collections from which it loads documents.</summary>
    public virtual IReadOnlyList<string> LoadedCollections => [];

    /// <summary>Whether it loads compare-exchange values.</summary>
    public virtual bool LoadsCompareExchange => false;

    /// <summary>Whether it sets a boost on its objects, as the number <see cref="MappedField.Boost"/>.</summary>
    public virtual bool HasBoost => false;

    /// <summary>
    /// Whether its objects may have members that are not among <see cref="Fields"/>: each is a field as soon as an object has it.
    /// </summary>
    public virtual bool IsOpen => false;

    /// <summary>
    /// Whether it creates fields whose names are determined by documents, see <see cref="MappedField.Dynamic"/>.
    /// </summary>
    public virtual bool HasDynamicFields => false;

    /// <summary>Whether it returns at most one object for each document.</summary>
    public virtual bool IsSingle => false;

    /// <summary>
    /// Returns whether it maps documents of a collection, or the time series or counter of a name in such documents.
    /// </summary>
    /// <param name="collection">The collection.</param>
    /// <param name="besideName">The time series or counter; null for a document.</param>
    public virtual bool Covers(string collection, string? besideName) =>
        (Collections.Count == 0 || Collections.Contains(collection, StringComparer.OrdinalIgnoreCase))
            && (BesideName is null || string.Equals(BesideName, besideName, StringComparison.OrdinalIgnoreCase));

    /// <summary>Adds the objects of a document, or of a counter or time series presented as a document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="host">What it may read apart from the document. Not used concurrently.</param>
    /// <param name="output">Receives the objects. Not used concurrently.</param>
    /// <exception cref="ComputationException">The map fails for this document; the caller must discard its
    /// output.</exception>
    public abstract void Map(Document document, IMapHost host, MapOutput output);
}
