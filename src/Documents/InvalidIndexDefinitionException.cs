namespace Treepie;

/// <summary>A definition of an index is not valid, or asks for what this program cannot run. Nothing was changed.</summary>
public sealed class InvalidIndexDefinitionException : TreepieException
{
    /// <summary>Creates the error.</summary>
    /// <param name="indexName">The index.</param>
    /// <param name="property">The part of the definition that is wrong: <c>Fields</c>, <c>Maps</c>, …</param>
    /// <param name="problem">What is wrong and what to do.</param>
    public InvalidIndexDefinitionException(string indexName, string property, string problem)
        : base($"The definition of the index '{indexName}' is refused: {problem}")
    {
        IndexName = indexName;
        Property = property;
    }

    /// <summary>The index.</summary>
    public string IndexName { get; }

    /// <summary>The part of the definition that is wrong.</summary>
    public string Property { get; }
}
