using System.Collections.ObjectModel;
using Treepie.Indexing.Queries;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Queries.Binding;

/// <summary>What a query may refer to besides fields and parameters.</summary>
internal sealed record BindingContext
{
    /// <summary>Gives the body of a document, for facets that are set up in one; null where it is not there.</summary>
    public Func<string, byte[]?> LoadDocument { get; init; } = static _ => null;

    /// <summary>Where compare-exchange values are read; null: there are none.</summary>
    public Func<DatabaseSnapshot>? BeginRead { get; init; }

    /// <summary>Gives what a compare-exchange value holds, as JSON; null where there is none.</summary>
    public byte[]? CompareExchange(string key)
    {
        using DatabaseSnapshot? snapshot = BeginRead?.Invoke();
        return snapshot?.CompareExchange(key)?.Held();
    }

    /// <summary>Where SELECT takes values from.</summary>
    public ProjectionBehavior Projection { get; init; }

    /// <summary>Most corners of the shapes of a query together.</summary>
    public int MaxShapeCorners { get; init; } = int.MaxValue;

    /// <summary>Compiles the JavaScript of queries; null: nobody does.</summary>
    public ComputingEngine? Computing { get; init; }

    /// <summary>Gives the orders that there are now, by name.</summary>
    public Func<IReadOnlyDictionary<string, ICustomOrder>> Orders { get; init; } =
        static () => ReadOnlyDictionary<string, ICustomOrder>.Empty;
}
