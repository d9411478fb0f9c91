namespace Treepie.CommandLine.Backups;

/// <summary>Files that hold a backup.</summary>
internal static class BackupFile
{
    private const int BufferBytes = 128 * 1024;

    /// <summary>Opens one to be read from its beginning to its end.</summary>
    public static FileStream Open(string path) =>
        new(
            path, FileMode.Open, FileAccess.Read, FileShare.Read, BufferBytes,
            FileOptions.SequentialScan | FileOptions.Asynchronous);
}
