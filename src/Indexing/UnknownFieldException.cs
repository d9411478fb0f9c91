namespace Treepie.Indexing;

/// <summary>Thrown when a query names a field that the index does not have.</summary>
public sealed class UnknownFieldException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public UnknownFieldException(string message)
        : base(message)
    {
    }
}
