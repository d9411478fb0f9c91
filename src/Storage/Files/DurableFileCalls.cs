namespace Treepie.Storage.Files;

/// <summary>The real file system.</summary>
internal sealed class DurableFileCalls : IDurableFileCalls
{
    public Stream Create(string path) =>
        OwnerOnly.OpenFile(path, FileMode.CreateNew, FileAccess.Write, FileShare.None, FileOptions.Asynchronous);

    public void Sync(Stream file) => ((FileStream)file).Flush(flushToDisk: true);

    public void Move(string from, string to, bool overwrite) => File.Move(from, to, overwrite);

    public void SyncDirectory(string path) => DurableDirectory.Sync(path);

    public void Delete(string path) => File.Delete(path);
}
