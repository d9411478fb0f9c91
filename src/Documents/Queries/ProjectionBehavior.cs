namespace Treepie.Queries;

/// <summary>Where <c>select</c> takes the values of fields from.</summary>
public enum ProjectionBehavior
{
    /// <summary>From what the index keeps where it keeps all that is selected, else from the document.</summary>
    Default,

    /// <summary>From what the index keeps; what it does not keep is null.</summary>
    FromIndex,

    /// <summary>From what the index keeps; to select something else is an error.</summary>
    FromIndexOrThrow,

    /// <summary>From the document.</summary>
    FromDocument,

    /// <summary>From the document; it is an error where one has not what is selected.</summary>
    FromDocumentOrThrow,
}
