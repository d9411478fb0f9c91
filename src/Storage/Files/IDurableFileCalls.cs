namespace Treepie.Storage.Files;

/// <summary>
/// What <see cref="DurableFile"/> asks of the file system, so that a test can record the order of the calls and let any of them
/// fail.
/// </summary>
internal interface IDurableFileCalls
{
    /// <summary>Makes a new file that nobody else can open.</summary>
    Stream Create(string path);

    /// <summary>Makes the content of a file durable.</summary>
    void Sync(Stream file);

    /// <summary>Gives a file its name.</summary>
    void Move(string from, string to, bool overwrite);

    /// <summary>Makes the names in a directory durable.</summary>
    void SyncDirectory(string path);

    /// <summary>Deletes a file; one that is not there is no error.</summary>
    void Delete(string path);
}
