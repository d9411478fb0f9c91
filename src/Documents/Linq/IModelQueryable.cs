namespace Treepie.Linq;

/// <summary>A query independent of the type of its results.</summary>
internal interface IModelQueryable
{
    QueryModel Model { get; }

    /// <summary>Executes a LINQ operator with a single result.</summary>
    object? Execute(string name);

    /// <summary>The type of its results.</summary>
    Type ElementType { get; }

    /// <summary>Returns the query with another model.</summary>
    IModelQueryable Changed(QueryModel model);
}
