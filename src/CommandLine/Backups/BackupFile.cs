namespace Treepie.CommandLine.Backups;

/// <summary>A file that gets its name, and takes the place of one that has it, when it is whole and on the disk. Until then, and after an error, everything is as it was.</summary>
internal static class BackupFile
{
    private const int BufferBytes = 128 * 1024;

    /// <summary>Writes it.</summary>
    public static async Task<T> WriteAsync<T>(string path, Func<Stream, Task<T>> write)
    {
        string unfinished = $"{path}.{Environment.ProcessId}.unfinished";
        try
        {
            T result;
            await using (var file = new FileStream(unfinished, FileMode.CreateNew, FileAccess.Write, FileShare.None, BufferBytes, FileOptions.Asynchronous))
            {
                result = await write(file);
                file.Flush(flushToDisk: true);
            }

            File.Move(unfinished, path, overwrite: true);
            return result;
        }
        catch
        {
            File.Delete(unfinished);
            throw;
        }
    }

    /// <summary>Opens one to be read from its beginning to its end.</summary>
    public static FileStream Open(string path) => new(path, FileMode.Open, FileAccess.Read, FileShare.Read, BufferBytes, FileOptions.SequentialScan | FileOptions.Asynchronous);
}
