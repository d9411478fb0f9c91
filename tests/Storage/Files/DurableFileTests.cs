using Treepie.Storage.Files;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>
/// Files that get their final names once they are durable, with a fake file system that records all calls and can fail any
/// of them.
/// </summary>
public sealed class DurableFileTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private string Target => Path.Combine(_files.Path, "backup");

    public void Dispose() => _files.Dispose();

    [Fact]
    public void The_content_is_synced_before_the_name_and_the_directory_after_it()
    {
        var calls = new RecordedCalls();
        using (DurableFile file = DurableFile.Create(Target, overwrite: true, calls))
        {
            file.Content.WriteByte(1);
            file.Commit();
        }

        Assert.Equal(["create", "sync 1", "move", $"sync directory {_files.Path}"], calls.Log);
    }

    [Theory]
    [InlineData("create", true)]
    [InlineData("sync", true)]
    [InlineData("move", true)]
    [InlineData("directory", false)]
    public void A_step_that_fails_is_an_error_and_what_was_there_stays_until_the_new_name_is_there(string step, bool staysOld)
    {
        File.WriteAllText(Target, "old");
        Assert.Throws<IOException>(() =>
        {
            using DurableFile file = DurableFile.Create(Target, overwrite: true, new RecordedCalls { Fails = step });
            file.Content.Write("new"u8);
            file.Commit();
        });
        Assert.Equal(staysOld ? "old" : "new", File.ReadAllText(Target));
        Assert.Equal([Target], Directory.GetFiles(_files.Path));
    }

    [Fact]
    public void What_is_not_committed_was_never_there()
    {
        using (DurableFile file = DurableFile.Create(Target, overwrite: false))
            file.Content.WriteByte(1);
        Assert.Empty(Directory.GetFiles(_files.Path));
    }

    [Fact]
    public void What_killed_writers_left_is_removed_and_what_is_at_work_or_anybody_else_s_stays()
    {
        string[] left = [Target + ".4711.unfinished", $"{Target}.{Guid.NewGuid():N}.unfinished"];
        string[] others = [Target + ".unfinished", Target + "s.4711.unfinished", Target + ".mine.unfinished"];
        foreach (string path in left.Concat(others))
            File.WriteAllText(path, "left");
        using DurableFile atWork = DurableFile.Create(Target, overwrite: true);
        DurableFile.RemoveAbandoned(Target);
        Assert.All(left, static path => Assert.False(File.Exists(path)));
        Assert.All(others, static path => Assert.True(File.Exists(path)));
        atWork.Content.Write("whole"u8);
        atWork.Commit();
        Assert.Equal("whole", File.ReadAllText(Target));
    }

    private sealed class RecordedCalls : IDurableFileCalls
    {
        private readonly DurableFileCalls _disk = new();

        public List<string> Log { get; } = [];

        public string Fails { get; init; } = "";

        public Stream Create(string path)
        {
            Do("create", "create");
            return _disk.Create(path);
        }

        public void Sync(Stream file)
        {
            Do("sync", $"sync {file.Length}");
            _disk.Sync(file);
        }

        public void Move(string from, string to, bool overwrite)
        {
            Do("move", "move");
            _disk.Move(from, to, overwrite);
        }

        public void SyncDirectory(string path)
        {
            Do("directory", $"sync directory {path}");
            _disk.SyncDirectory(path);
        }

        public void Delete(string path) => _disk.Delete(path);

        private void Do(string step, string call)
        {
            if (step == Fails)
                throw new IOException($"'{step}' fails.");
            Log.Add(call);
        }
    }
}
