using Treepie.Backups;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Compatibility.Tests;

/// <summary>
/// What a version has written, every later one opens and answers alike. <c>TREEPIE_KEEP_DATA=0.2</c> writes the files of a
/// version before it is released; they are never changed afterwards.
/// </summary>
public sealed class CompatibilityTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly EncryptionKey _key = KeptData.Key();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Each version with each kind of database.</summary>
    public static TheoryData<string, string> Databases => Combined("plain", "encrypted");

    /// <summary>Each version with each state that a database was left in.</summary>
    public static TheoryData<string, string> Directories =>
        Combined("plain-closed", "plain-killed", "encrypted-closed", "encrypted-killed");

    public void Dispose()
    {
        _files.Dispose();
        _key.Dispose();
    }

    [Fact]
    public async Task Files_of_this_version_are_written_where_that_is_asked_for()
    {
        if (Environment.GetEnvironmentVariable("TREEPIE_KEEP_DATA") is not { Length: > 0 } version)
        {
            Assert.NotEmpty(Versions()); // nothing is asked for, and what was asked for once is here
            return;
        }

        Assert.False(
            Directory.Exists(Path.Combine(KeptData.Folder, version)), $"Files of {version} are kept already and never change.");
        await KeptDataWriter.WriteAsync(Path.Combine(KeptData.Folder, version), Cancel);
    }

    [Theory]
    [MemberData(nameof(Directories))]
    public async Task A_database_opens_and_answers_as_it_did(string version, string archive)
    {
        string path = KeptData.Unpack(version, archive + ".zip", Path.Combine(_files.Path, "db"));
        await ExpectAsync(version, archive, path);
        await ExpectAsync(version, archive, path); // and once more, after this version has written to it
    }

    [Theory]
    [MemberData(nameof(Databases))]
    public async Task A_chain_of_logical_backups_is_restored(string version, string name) =>
        await ExpectRestoredAsync(version, name, ["logical", "logical-increment"], isWhole: false);

    [Theory]
    [MemberData(nameof(Databases))]
    public async Task A_chain_of_snapshot_increment_and_log_is_restored(string version, string name) =>
        await ExpectRestoredAsync(version, name, ["snapshot", "snapshot-increment", "log"], isWhole: true);

    private async Task ExpectRestoredAsync(string version, string name, string[] parts, bool isWhole)
    {
        EncryptionKey? key = name == "encrypted" ? _key : null;
        var options = new RestoreOptions { BackupKey = key, Database = new DatabaseOptions { EncryptionKey = key } };
        BackupPart[] chain = [.. parts.Select(part => BackupPart.OfFile(KeptData.PathOf(version, $"{name}-{part}.backup")))];
        await Database.VerifyBackupAsync(chain, options, null, Cancel);
        string target = Path.Combine(_files.Path, "restored");
        await Database.RestoreAsync(chain, target, options, null, Cancel);
        if (isWhole)
            await ExpectAsync(version, name, target);
        else
            await ExpectDocumentsAsync(version, name, target, most: 329);
    }

    private async Task ExpectAsync(string version, string name, string path)
    {
        string kind = name.Split('-')[0];
        await using Database database = Open(kind, path);
        Assert.Equal(
            await File.ReadAllLinesAsync(KeptData.PathOf(version, kind + ".txt"), Cancel),
            await DatabaseContent.OfAsync(database, Cancel));
        Assert.Empty(database.Check(Cancel).Problems);
        Assert.Contains(database.Indexes.List(), index => index.Name == "Orders/ByPlace");
    }

    /// <summary>The documents up to a number, as they were then: later backups have more.</summary>
    private async Task ExpectDocumentsAsync(string version, string name, string path, int most)
    {
        await using Database database = Open(name, path);
        string[] expected = [
            .. (await File.ReadAllLinesAsync(KeptData.PathOf(version, name + ".txt"), Cancel)).Where(
                line => NumberOf(line) is > 0 and < 324)];
        string[] found = [.. (await DatabaseContent.OfAsync(database, Cancel)).Where(line => NumberOf(line) is > 0 and < 324)];
        Assert.NotEmpty(expected);
        Assert.Equal(expected, found);
        using Treepie.Store.DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet($"orders/{most}", out _));
        Assert.False(snapshot.TryGet($"orders/{most + 1}", out _));
    }

    private Database Open(string kind, string path) =>
        Database.Open(path, new DatabaseOptions { EncryptionKey = kind == "encrypted" ? _key : null });

    private static int NumberOf(string line) =>
        line.StartsWith("orders/", StringComparison.Ordinal)
            && int.TryParse(line["orders/".Length..line.IndexOf(' ', StringComparison.Ordinal)], out int number) ? number : 0;

    private static IEnumerable<string> Versions() => Directory.Exists(KeptData.Folder)
        ? Directory.EnumerateDirectories(KeptData.Folder).Select(folder => Path.GetFileName(folder)).Order(StringComparer.Ordinal)
        : [];

    private static TheoryData<string, string> Combined(params string[] names)
    {
        var data = new TheoryData<string, string>();
        foreach (string version in Versions())
            foreach (string name in names)
                data.Add(version, name);
        return data;
    }
}
