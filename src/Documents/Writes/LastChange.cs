using System.Globalization;

namespace Treepie.Writes;

/// <summary>The last change of a collection, or of the database, as what a batch expects.</summary>
internal static class LastChange
{
    /// <summary>Returns the exception for documents whose ids have a prefix, one of which has changed since.</summary>
    public static ConcurrencyException ConflictOfPrefix(string prefix, long expected, long actual) => new(
        string.Create(
            CultureInfo.InvariantCulture,
            $"Documents whose ids start with '{prefix}' were expected without changes after {expected}, but may have one at "
                + $"{actual}. Nothing was written. Read again, and apply the change to what is there now."));

    /// <summary>Returns the exception for a collection, or for null the database, that has changed since.</summary>
    public static ConcurrencyException Conflict(string? collection, long expected, long actual) => new(
        string.Create(
            CultureInfo.InvariantCulture,
            $"{(collection is null ? "The database" : $"Collection '{collection}'")} was expected without changes after "
                + $"{expected}, but has changes up to {actual}. Nothing was written. Read again, and apply the change to what is "
                + $"there now."));
}
