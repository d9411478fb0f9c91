using Treepie.Store;

namespace Treepie.Computations;

/// <summary>
/// A map of an index that computes: turns a document into zero or more JSON objects, which are indexed by their top-level names
/// as if each were a document. Thread-safe.
/// </summary>
internal abstract class IndexMap
{
    /// <summary>Collections whose documents it maps; empty: all documents.</summary>
    public abstract IReadOnlyList<string> Collections { get; }

    /// <summary>What it maps.</summary>
    public virtual IndexSourceType Source => IndexSourceType.Documents;

    /// <summary>The kind of what it maps beside documents; null: it maps documents.</summary>
    public Kind? KindBeside => Source switch
    {
        IndexSourceType.TimeSeries => Kind.TimeSeries,
        IndexSourceType.Counters => Kind.Counter,
        _ => null,
    };

    /// <summary>The time series or counter that it maps, where it maps these; null: those of every name.</summary>
    public virtual string? BesideName => null;

    /// <summary>Fields of its objects as far as the text names them, with what the text says of each.</summary>
    public abstract IReadOnlyList<MappedField> Fields { get; }

    /// <summary>Collections that it loads documents from.</summary>
    public virtual IReadOnlyList<string> LoadedCollections => [];

    /// <summary>Whether it looks at compare-exchange values.</summary>
    public virtual bool LoadsCompareExchange => false;

    /// <summary>Whether it gives its objects a weight, as the number <see cref="MappedField.Boost"/>.</summary>
    public virtual bool HasBoost => false;

    /// <summary>Whether it makes fields whose names only the documents say, see <see cref="MappedField.Dynamic"/>.</summary>
    public virtual bool HasDynamicFields => false;

    /// <summary>Whether no document gives more than one object.</summary>
    public virtual bool IsSingle => false;

    /// <summary>
    /// Whether it maps documents of a collection, or the time series or counter of that name of such documents.
    /// </summary>
    /// <param name="collection">The collection.</param>
    /// <param name="besideName">The time series or counter; null: it is a document.</param>
    public virtual bool Covers(string collection, string? besideName) =>
        (Collections.Count == 0 || Collections.Contains(collection, StringComparer.OrdinalIgnoreCase))
            && (BesideName is null || string.Equals(BesideName, besideName, StringComparison.OrdinalIgnoreCase));

    /// <summary>Adds the objects of a document, or of what lies beside one, shown as a document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="host">What it may look at beside the document. One caller at a time.</param>
    /// <param name="output">Takes the objects. One caller at a time.</param>
    /// <exception cref="ComputationException">It fails for this document; what it has added is to be forgotten.</exception>
    public abstract void Map(Document document, IMapHost host, MapOutput output);
}
