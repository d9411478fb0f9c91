using System.Globalization;
using Treepie.Kinds;

namespace Treepie;

/// <summary>
/// Thrown when documents or compare-exchange values of a cluster-wide batch were changed by others. Nothing of it was written.
/// </summary>
public sealed class ClusterTransactionConcurrencyException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public ClusterTransactionConcurrencyException(IReadOnlyList<ClusterConflict> conflicts)
        : base(Describe(conflicts))
    {
        Conflicts = conflicts;
    }

    /// <summary>The conflicts.</summary>
    public IReadOnlyList<ClusterConflict> Conflicts { get; }

    private static string Describe(IReadOnlyList<ClusterConflict> conflicts)
    {
        ArgumentNullException.ThrowIfNull(conflicts);
        const int Shown = 10;
        IEnumerable<string> each = conflicts.Take(Shown).Select(static conflict =>
            string.Create(
                CultureInfo.InvariantCulture,
                $"{(conflict.IsDocument ? "document" : "compare-exchange value")} '{conflict.Id}' was expected with index "
                        + $"{conflict.Expected}, and has {conflict.Actual}"));
        string more = conflicts.Count > Shown ? FormattableString.Invariant($"; and {conflicts.Count - Shown} more") : "";
        return $"The cluster-wide batch is refused: {string.Join("; ", each)}{more} (0 means that there is none). Nothing of the "
            + $"batch was written. Load them again, and apply the change to what is there now.";
    }
}
