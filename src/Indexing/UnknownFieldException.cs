namespace Treepie.Indexing;

/// <summary>A query names a field that the index does not have.</summary>
public sealed class UnknownFieldException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public UnknownFieldException(string message)
        : base(message)
    {
    }
}
