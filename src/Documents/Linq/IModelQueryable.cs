namespace Treepie.Linq;

/// <summary>A query of any type of results.</summary>
internal interface IModelQueryable
{
    QueryModel Model { get; }

    /// <summary>What an operator of LINQ gives that has one value.</summary>
    object? Execute(string name);

    /// <summary>This query with another model.</summary>
    IModelQueryable Changed(QueryModel model);
}
