namespace Treepie.CommandLine.Backups;

/// <summary>Files that contain a backup.</summary>
internal static class BackupFile
{
    private const int BufferBytes = 128 * 1024;

    /// <summary>Opens a backup file for sequential reading.</summary>
    public static FileStream Open(string path) =>
        new(
            path, FileMode.Open, FileAccess.Read, FileShare.Read, BufferBytes,
            FileOptions.SequentialScan | FileOptions.Asynchronous);
}
