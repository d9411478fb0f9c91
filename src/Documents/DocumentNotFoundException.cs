namespace Treepie;

/// <summary>Something was to be put beside a document that does not exist. Nothing was changed.</summary>
public sealed class DocumentNotFoundException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public DocumentNotFoundException(string id, string consequence)
        : base(
            $"Document '{id}' does not exist, so it {consequence}. Nothing of the batch was written. Put the document first, in "
                + $"the same batch if you like.")
    {
        Id = id;
    }

    /// <summary>Id of the document.</summary>
    public string Id { get; }
}
