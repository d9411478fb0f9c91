using Treepie.Store;

namespace Treepie.Backups;

/// <summary>What the stores of a database are called in a snapshot: as their folders.</summary>
internal static class SnapshotNames
{
    private const int MaxFolderLength = 200;

    /// <summary>Of an index in a folder.</summary>
    public static string OfIndex(string folder) => $"{DatabaseFormat.IndexesFolder}/{folder}";

    /// <summary>
    /// The folder of an index; null where it is another store, or a name that no index's folder has: it comes from a file that
    /// anyone may have written.
    /// </summary>
    public static string? FolderOf(string name)
    {
        string prefix = DatabaseFormat.IndexesFolder + "/";
        if (!name.StartsWith(prefix, StringComparison.Ordinal))
            return null;

        string folder = name[prefix.Length..];
        return folder.Length is > 0 and <= MaxFolderLength
            && folder[0] != '.'
            && folder.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.') ? folder : null;
    }
}
