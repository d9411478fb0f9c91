using Treepie.Store;

namespace Treepie.Backups;

/// <summary>The names of a database's stores in a snapshot: the names of their folders.</summary>
internal static class SnapshotNames
{
    private const int MaxFolderLength = 200;

    /// <summary>Returns the name for an index in a folder.</summary>
    public static string OfIndex(string folder) => $"{DatabaseFormat.IndexesFolder}/{folder}";

    /// <summary>
    /// Returns the folder of an index; null if the name is that of another store, or not valid for an index folder. Names are
    /// not trusted: anyone may have written the file.
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
