namespace Treepie.Queries;

/// <summary>Where <c>select</c> takes the values of fields from.</summary>
public enum ProjectionBehavior
{
    /// <summary>From the fields stored in the index if it stores all selected fields, otherwise from the document.</summary>
    Default,

    /// <summary>From the fields stored in the index; fields that are not stored are null.</summary>
    FromIndex,

    /// <summary>From the fields stored in the index; selecting any other field is an error.</summary>
    FromIndexOrThrow,

    /// <summary>From the document.</summary>
    FromDocument,

    /// <summary>From the document; a selected field that a document does not have is an error.</summary>
    FromDocumentOrThrow,
}
