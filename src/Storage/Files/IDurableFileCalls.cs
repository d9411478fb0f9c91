namespace Treepie.Storage.Files;

/// <summary>
/// The file system calls of <see cref="DurableFile"/>, so that tests can record their order and make any of them fail.
/// </summary>
internal interface IDurableFileCalls
{
    /// <summary>Creates a new file that no one else can open.</summary>
    Stream Create(string path);

    /// <summary>Makes the content of a file durable.</summary>
    void Sync(Stream file);

    /// <summary>Renames a file to its final name.</summary>
    void Move(string from, string to, bool overwrite);

    /// <summary>Makes the names in a directory durable.</summary>
    void SyncDirectory(string path);

    /// <summary>Deletes a file. Does nothing if it does not exist.</summary>
    void Delete(string path);
}
