namespace Treepie;

/// <summary>Thrown when an index definition is not valid or uses unsupported features. Nothing was changed.</summary>
public sealed class InvalidIndexDefinitionException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="indexName">The name of the index.</param>
    /// <param name="property">The property of the definition that is not valid: <c>Fields</c>, <c>Maps</c>, …</param>
    /// <param name="problem">The problem and what to do about it.</param>
    public InvalidIndexDefinitionException(string indexName, string property, string problem)
        : base($"The definition of the index '{indexName}' is refused: {problem}")
    {
        IndexName = indexName;
        Property = property;
    }

    /// <summary>The name of the index.</summary>
    public string IndexName { get; }

    /// <summary>The property of the definition that is not valid.</summary>
    public string Property { get; }
}
