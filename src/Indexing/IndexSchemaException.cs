namespace Treepie.Indexing;

/// <summary>An index was opened or filled in a way its schema does not allow.</summary>
public sealed class IndexSchemaException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public IndexSchemaException(string message)
        : base(message)
    {
    }
}
