namespace Treepie.Storage.Tests;

/// <summary>All files of a folder with their bytes and times, to verify that nothing was written.</summary>
internal sealed class FolderState
{
    private readonly SortedDictionary<string, (byte[] Bytes, DateTime Written)> _files = new(StringComparer.Ordinal);

    private FolderState(string path)
    {
        foreach (string file in Directory.GetFiles(path))
            _files.Add(Path.GetFileName(file), (File.ReadAllBytes(file), File.GetLastWriteTimeUtc(file)));
    }

    public static FolderState Of(string path) => new(path);

    /// <summary>Fails unless the folder is unchanged.</summary>
    public void AssertSame(string path)
    {
        FolderState now = Of(path);
        Assert.Equal(_files.Keys, now._files.Keys);
        foreach ((string name, (byte[] bytes, DateTime written)) in _files)
        {
            Assert.True(bytes.AsSpan().SequenceEqual(now._files[name].Bytes), $"'{name}' was changed.");
            Assert.Equal(written, now._files[name].Written);
        }
    }
}
