using System.Text;
using Treepie.Backups;
using Treepie.Store;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Backups;

/// <summary>Backups that were written once and must be readable for ever: what they hold stands here byte by byte.</summary>
public sealed class OldBackupTests : IDisposable
{
    /// <summary>A gzip dump of format 1, as a server's export gives it: two users, a deletion, an identity, an index.</summary>
    private const string GzipOfFormat1 =
        "H4sIAAAAAAAAA62Ty27bMBBF9/mMWVMxKct6cJXYeSJ1EDRuCiTIghJHNhGZNEQqjev63wtacmy3aYEC3QlD3uGZO1crGDaqkg9YW2U08IRRSskRTGrEhULgT0cruDD1XDjgjMCZcCIXFm/FHIFDqd5cUyPsDq4lcEgTGuVliQ" +
        "FSGgdJmBeByOJBwPpYxBjFZVHGQOCTsO7ciSnwiMBEvKA+dcAhpGEcMBaEbMJSPoh5lB2zKB6wlD0CgWv7dWYqBO7qBtfP5AjOTGFbUt1inUoBBDRwdjygBE7m6IQUTgBfwYnyhI3F2vYYEDgpTFVh4Tbjwxdf31RnQk8xeMXC" +
        "mdq35Czo1en57Fs+fb26WTx+vrP5S55mU3+7EtYFcyNVqVB+OEJ6nERJQgf9R1ivyQ51aHL4hXDjyBMjuqmqZ3IAHP4LcPj/gL3LEzPPrTMaO69vcAkcpkbjxsfJcuHnOTNFM0ftgMBon/PSaB+T0YbyYQcZ/RnyPRo+J+O/s6" +
        "ZskERZ4vPRRfe+WWBtUXpJKSrbRuVaS3zbTtAhnzbOjMXChxhLpVVLvIIu4/64t7G5N1xutkZ+V44+2slYLC4UVtL6bu2+V3DvTC2mXn1rfJo9kNJTbx2Woqmczwdc1qZZDJfvcl/rBtvWnlZwJ9wMeNuawI3S3p4HUTUI6+d2" +
        "XonaKacOl6b0q1EF2h9AuuscGLRbbh/ZzdMJOzO6NW63bIFTAvfqOw6Xzr9BD/7qTdA75daUPWl4IB3097XhPs1YaFWidS3KYYf9WLLOz+333vBsf0etcmS0Q+2uhPUm0qQoGe3TXEZZjpnATKa0kHkU0jQXeSJSkWVZxrJCZp" +
        "gzTBnNZCJFnvVjSsPIO370E5nfNjRPBQAA";

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_gzip_dump_from_before_restores()
    {
        string target = Path.Combine(_files.Path, "restored");
        BackupReport report = await Database.RestoreAsync(new MemoryStream(Convert.FromBase64String(GzipOfFormat1)), target, null, null, Cancel);
        Assert.Equal(("gzip", "fixture", 4L, true), (report.Compression, report.DatabaseName, report.LastEtag, report.IsWhole));
        Assert.Equal(new BackupCounts(2, 1, 1, 1, 2), report.Counts);
        await using Database database = Database.Open(target);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("users/1", out Document ada));
        Assert.Equal("{\"name\":\"Ada\",\"n\":1.50}", Encoding.UTF8.GetString(ada.Body));
        Assert.Equal("A:1-/r8EhwbgvHKpZRPsbkb89g", ada.ChangeVector);
        Assert.Equal(1, snapshot.Identities()["invoices|"]);
        Assert.Equal(1, snapshot.TombstoneCount);
        Assert.Single(database.Indexes.List());
    }
}
