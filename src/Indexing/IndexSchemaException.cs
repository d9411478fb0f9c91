namespace Treepie.Indexing;

/// <summary>Thrown when an index is opened or filled in a way that its schema does not allow.</summary>
public sealed class IndexSchemaException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public IndexSchemaException(string message)
        : base(message)
    {
    }
}
