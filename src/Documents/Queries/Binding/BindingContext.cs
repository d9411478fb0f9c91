using System.Collections.ObjectModel;
using Treepie.Indexing.Queries;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Queries.Binding;

/// <summary>What a query may reference besides fields and parameters.</summary>
internal sealed record BindingContext
{
    /// <summary>Returns the body of a document that defines facets, or null if the document does not exist.</summary>
    public Func<string, byte[]?> LoadDocument { get; init; } = static _ => null;

    /// <summary>Opens a snapshot to read compare-exchange values from. Null if there are none.</summary>
    public Func<DatabaseSnapshot>? BeginRead { get; init; }

    /// <summary>Returns a compare-exchange value as JSON, or null if the key does not exist.</summary>
    public byte[]? CompareExchange(string key)
    {
        using DatabaseSnapshot? snapshot = BeginRead?.Invoke();
        return snapshot?.CompareExchange(key)?.Held();
    }

    /// <summary>Where SELECT takes values from.</summary>
    public ProjectionBehavior Projection { get; init; }

    /// <summary>Whether conditions of WHERE that no index answers are evaluated on the documents.</summary>
    public bool ExaminesDocuments { get; init; } = true;

    /// <summary>The maximum number of shape vertices in a query, all shapes together.</summary>
    public int MaxShapeCorners { get; init; } = int.MaxValue;

    /// <summary>Compiles the JavaScript of queries. Null if scripts are not available.</summary>
    public ComputingEngine? Computing { get; init; }

    /// <summary>Returns the current custom sort orders by name.</summary>
    public Func<IReadOnlyDictionary<string, ICustomOrder>> Orders { get; init; } =
        static () => ReadOnlyDictionary<string, ICustomOrder>.Empty;
}
