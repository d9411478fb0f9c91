namespace Treepie;

/// <summary>
/// Thrown when related data, such as an attachment, is to be stored for a document that does not exist. Nothing was changed.
/// </summary>
public sealed class DocumentNotFoundException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public DocumentNotFoundException(string id, string consequence)
        : base(
            $"Document '{id}' does not exist, so it {consequence}. Nothing of the batch was written. Put the document first, in "
                + $"the same batch if you like.")
    {
        Id = id;
    }

    /// <summary>The id of the document.</summary>
    public string Id { get; }
}
