using System.Text;
using Treepie.Backups;
using Treepie.Indexes;
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

    /// <summary>
    /// A full backup of format 1 (two users) and the increment of format 2 that went on from it (a third one, and one of the two
    /// deleted): hashed with SHA-256.
    /// </summary>
    private const string DumpOfFormat1 =
        "H4sIAAAAAAAAA6XSy24TMRQG4H0e46w9xfZcPONVElJoJOgCAoiiLnw5k1jNeKqxgyBR3h05U5pmARJiZ/+yfn22zwHmO7e1n3EIrvcgBaOUkgmsBsRHhyC/TQ7wph86FUEyAgsVlVYBb1WHIMFqOGdLCxLykhaiNm3WMF1lRSuqrBCC" +
        "ZTUt0WBDORcVEHinQryOag2SE1ipB/SzCBI45VXGWMb5ilJZUEn5FW8azkVzBwSW4cum3yLIOOzweE8msOhNGJF+FM2sAgIeJLsqKYFph1FZFRXIA0xdEu4CDuEVAwJT02+3aOLp5vAp5ad0o/was+9oYj+kSsmyfb6+vtXqg31obszX" +
        "Oe4fZ86u0+mtCjHreutah/YPV2A5b/KC38HxSM7Ut4MyCH8x8n8x8v80cpbzoiyTMT3squ90iL3H9LwpWHqLP847iz666J6D1Tgwr5+1T9/yNCi/4Yve7Dr0MZw+/qPb4/xnTCV5czEUo2HsfK+8azHEsfCy4SWTkjMyrV8QKYELGUt7" +
        "H9HHGxU2IAG1LhtD61JpLUyTa1FqVlTaloUWudJCc8UKgZoabanW1ui6qtu2zm1l6xzheH+c/AKdB9S1TQMAAA==";

    private const string IncrementOfFormat2 =
        "H4sIAAAAAAAAA4WSS0/cMBDH7/sx5uy0tuPEiU88K1ALqkqgKoiDH5MlIpusYm9VWO13r5zA7oKKesxkPPr9H2s4WjWtu8HBN30HSjJKKZlBNSAuGwR1N1vDl35Y6ACKEzjRQRvt8VIvEBQ4A7vZuQMFaUaFLGydlMzkiahlnggpWVLQ" +
        "DC2WlHOZA4Fv2ofToOegBIFKP2J3GEABpzxPGEs4ryhVgirKP2VZmTGR3wKBc//zoW8RVK1bjwSums4iqPXeOU7guO8CduFM+wdQgMZkpaVFpo2RtkyNzAwTuXGZMDLVRhqumZBoqDWOGuOsKfKirovU5a5IEQh8Xw1zdNfLqgdFCZz1" +
        "rfPnncM/6Lco09BhF5rQ7M1PertaYBf8iFb1C+ND38UFttnck1lc8JPN3eTpqfNzHIDAwQKDdjroqPCgie6uPA7+cxp/2r5t0YYxNbiO83H6oLs5Jr/Rhn4ABYcqTZ7T+eml0T/cY3lmfx3h8/KwcfO43WofkkXvmrpB95H9IpO0lLcw" +
        "4e4riNBf8WnLxYFA9bSMIl5lQ4zjH6DHI+fNDlN8jLntSUz54n+0UrCsiGV5qfDVaomDRxefjJmMMrbx3Y1fe7mNg2p6u0N/UftS+1cVb8O9ap7x6CnEI4K+qfjk3HTzQndNjT5MB/cusHf1IDtISt4g0n1Tp9V3neeFESVnzLJCUFek" +
        "aV0bKTSjmOeC81KX3LqskGkpC4sp44Kbok7rvOboRA2b+83sL0XizKIbBAAA";

    /// <summary>
    /// A gzip dump of format 3: two users, an identity, an index that a query made and one defined by hand, of which something
    /// is set.
    /// </summary>
    private const string GzipOfFormat3 =
        "H4sIAAAAAAAAA6WUTVPbMBCG7/kVnj21Uxts+SvWiaSUkkIoHQKdwuQgW+ug4kgZW24b0vz3jmyHEEqZaXuyvJJXz/vurlcwrEXBr7CshJJAY891XbsHkxJx"
            +
            "IRDoTW8FR6qcMw3Ut+GQaZayCs/YHIGCKjhsgyMOFCI3SPI0Cp0kj2PHDxk6PvFdJ2U+ZhgFJPD7YMMpq/Q7zWZAiQ0TdodyoIECcUnkeJ5DyIR41PNoQPb6" +
            "SRj14+AabBhVn29VgUB1WeN6avfgUGVVS9khmYflgQ2DGQL1bDiYo2acaQZ0BQfCMNYVltW+OXSQqaLATDfi4dLEm+gtkzN0vmGmVQkUBtRzrnP94csx5uXX" +
            "y+X4VL25n3+6+zgwpwtWaWeuuMgF8udE+MleGJMkScg1rNf2E1iygSUvwJK/gSX/CRvFJA78voE1Hk/UPK20kmicNoGR5PijeeutYLJcGCmDWqsxW5h2wFxI" +
            "0VI+KDXb+w3y/nB5gazMbl+ZrdcDyY14+/c8b59TO2aLI4EFr7a5V3ChVcmMg3CmTJcYPCFnQKG9Cdadwy8dPcSc1YU2BYL3paoXw+XDTSbWjcQmdrOCc6Zv" +
            "uyKCDSdC8sc3Puy38rrtK1bUCOtp0wWd5Bds2zi2Y1F7fswWBgPyUs2t2hLS4iqr9povrAqNdZbE79bKqvcGM7TWMLXhVGV3Y8VNFrNEPppJVZrc56VQpdBL" +
            "oHAsZo1lneLGoz8ybavU0LR1mv4j3ra0XbkeWbhet9044ii10GLTfye43EzJT7A7gyl40PZu2WjYpdwO4KatDlVWz1HqqpnCC3GPw6U2N4Tuzr/qcc4xkyLH" +
            "SrcJdzM8Hhm3azOzJvYOv/fEv+ZdapT6mFVGeELSNAhSN0fm8SglCYl5P2IRSf0g8MIk62dBHxn3Q54EXpTxDIOYZEnkeRkJSWg6rfcLRl9NTuUFAAA=";

    /// <summary>The same as pages: a snapshot and an increment of version 2.</summary>
    private const string SnapshotOfVersion2 =
        "H4sIAAAAAAAAA+3dT2wUVRzA8Tftlv6BKqgJBrG7eQkRYxdmt/uvezA2qIWECJICCUZ0/ryWjd0Z6UwbCKnh4AGNQThw8CKJIV4MiTEGTnpRrlDgYCIHidE0xphovDX+y+vOlHFgEIwn8/0k25eZ997vNzM9/t68eWti9+6xPRMDXcIQ" +
        "14UQV47kqhdOz+0aP3z84OVTck78g7MbPxEfGEJ0R8cfPdY5/jNyTD7vz7StUDZLw/JZK7RsK1AvWG0lm9K15a1zO1zZlCNVs1JvOJPF0ZJdK1Ym67VipV4vFRtmVTlq1CyX6zU5LHdaQfhcaE3JZnlYTlivKW8slE1ZNsu1YqlULJcn" +
        "TLNZMZtmeUulNlJq1MsHdCbfmW0rLww60/y2HYS+pwLZNIflDld5YStsRYfb/Olp5YQt3wuWr3yH56ojuu+ll+evblhYNIQQ7yUew6EXnxrX59OPL34s8eOIH8+66Hxvql0btfG8gajV+Qz9J0NXNGhQtwUh+qPzbnzPXVHwOMb5pU+P" +
        "6wuOA7x+s9OT0/NvRgGFEO9uX/hDj8ulLix9rNtu0SVm87cual9ufl/WBc+oYFb/svov5pORAAAAAAAAAAAAAAD4H+kVdTEbqJlgazmuzy9ODm4qbf+mz0gtIoiGHZNeZ63F+IzlKDnfK56OukrxSoDPNxm3RVi/EqG0EmHMteSw9GSz" +
        "tKVqzvek6v89Uf3/WqJq/934O5eybmV5QcNdbvWHfDISAAAAAAAAAAAAAAC4N2s61f+4KN8VrSBInTaiZQGr4mGJjQq6hSF+TVTtS78thlnZ7vbuv5aMAwAAAAAAAAAAAAAA/jM9ItfZFECvBRhMfQdg8A7fB9D7AXydqOObhY8//LfJ" +
        "f8onIwEAAAAAAAAAAAAAgPvTt/JVgJU9ARKn4v0AHkjV//uj/QBuJKr2/W9+cS4ry92+BaAl4wAAAAAAAAAAAAAAgPuWE4/rxoi3+n8iauPjvXoFwIOp+v+a6P3/hUTdfuxofm9WEiu03CkrVFn9N/PJSAAAAAAAAAAAAAAA4F7kRJ9Q" +
        "oTUVF/n7xCPCtULLtgKl39W/ciRXvXB6btf44eMHL5+Sc2tT9X89plsMCGPoVsytF09szMo3Pe07+jfr+G7885TbskLVttt+GP+y5p8c2j90Pe/k388/OWQM/TJUzH+WyAwAAAAAAAAAAAAAuGc5URBtFVrpF8G7Ei+EG4YQA6IgWq7y" +
        "wlbYUkFWtNX6jyHEw6IgHH96Wjlhy/eCrfbRome11apU8Hj3+IEoyeq/T0tvTm8kNqnXw9eKggj9th2EvqeWk7TcrCvriwI8etscZyVh1tzeaO5Dt83VpfasWcs3awixXhSE6zuzbeWFqYQ9GQ+9J7rBdempOt9gxqRcNKk/OUmfvNNg" +
        "fawH60z60cT9E1PG21c3LCzGHwrQfXui4NpXZ88t9x+T23wvVF643QoOyaZUtl0ddcxG1bLtujM6YterdqlSs91qxa6PWHbdLlulSl3ZpmO7pm27jt2oNSYnGyNuzW2MKDmv/6lmdO9acOPMks4UH1/7ttPOHTjZWDq/+Y1nvjTFtf0/" +
        "f3/ild8Lm4NLr/5YMs/0iJ1TfwH+NdQ5GuMAAA==";

    private const string SnapshotIncrementOfVersion2 =
        "H4sIAAAAAAAAA+3dT2wUVRzA8bd/SpfSQgsYTJTOOgkGk/7Zne3+NTEgIJAQQVIlwQDOzkzryu6sdKdNTVODB/+QGIQDBy8ePBgjYowmQCByMBiCGjBwkyjl4L8oETTxgDExrzvTDtMMwWri5ftJptN57/1+b/b1+Hv7emBw27a12wfb" +
        "oiIqLgshLo7Hs8cPj23duG//7guH1LGxnQcLt46tfnHN2ZS4tOPGd6/t+Su5uvHZMz+nU0daxJbh2MqPxNsRIVpE05/3N59j7vOE+lh9pKY7aindo67XHb2sN6zH9ZqlllSzrM62bTbVkprJpgbyBWOot5gu53oHhvK53oF8Pt1bSGUt" +
        "wyqmNC2fU3vULXrD2eDow2ppoEcd1Pda9lpHLalaSsv1ptO9mjaYSpUGUqWU1pfNZdKZQmGnnKlujNYs22moJa1HHazXyg2nbluN6VfbbFq2U3Eq8jHVo66rV6uW4VTqttttm9a47Ht61+RUe7IaEUK8KWb9un5ij2wPLp+3LLHA8ix3" +
        "n9vc+0L3vsy9twT65XwR+SNE1B3UIe/J2Xym95nlgE43kbRg9IsD8oW9BM9PLZm+x2V8MtJMKIQ41Nd3jxwX90/kjvO/qPyAMREVmvLozEudOXv8w7AXHrEao/IK6z+haIqmhH9gAAAAAAAAAAAAAAD+H62iIEYb1kijP+PtBjj/wJpV" +
        "6U1XE7Io3+q2dQnhDZtQ7eZGiQ1mY9gaUSdbRd7t07w6/A9DHXNSyDq/O2wmxcYR3bBkhkfcrrS3E+DMqsicDCtmMqRnMqw1dbVHtdVSui+bmvTq/v67rP+fVmRs028nF/0ethrTGxrusFo/KaeV09T/AQAAAAAAAAAAAAAI094s83vV" +
        "95i72yDQHHV3EASaI+62gOmDBnw7BjoC+wHi7n6Ac4p3pIEQLz/Vt3S+f5bryjnlHPsBAAAAAAAAAAAAAAC4G4mZgv7MvgBfk7cnwNfk7QdYHKj/ywExERE3fDX7l77eeyJs4judBSD58wAAAAAAAAAAAAAAgP9G++1l+/iSQP1/gVv/" +
        "/8ZXt89f+KM43/n8eQAAAAAAAAAAAAAAwDwkxArv17htrlmV3nQ14VX+3SMBOgP1/4Rb///RV7fffE3tCptixGqM3ukV/HkAAAAAAAAAAAAAAMC/0y4SXslfPkbibntXoP6/0K3/X/HV7b/Pf56d7/n//jwAAAAAAAAAAAAAAOAfi4uV" +
        "8haJus+rZ9qbnpTbAZYG6v/y/wPERFR85avbv3ftaH/YJLqjm8O6Y4X1Tyn+TAAAAAAAAAAAAAAA4G7ERUJYjj7sFfkTYrkwdUcv6w1Lflf/4ng8e/zw2NaN+/bvvnBIHVsWqP/LMTHRJiLdszlPjb/xcNh81WrdkNeoUTe9y7bMiu5Y" +
        "tXKt7nhXWPzB7h3dlxVDeUt5qDvSfbO7V/nENzMAAAAAAAAAAAAA4K7FRVLULEcPfhE86vtCeCQiRJtIiopp2U7FqViNsGyL5I+IEMtEUhj1atUynErdbvSXX+i19Zq1IJDcOz2+zZ1k0e1hwcPpI75D6uXwTpEUTr1Wbjh125qepGJ2" +
        "hsQk3Jh758QYMxMuDoltdWOXzomVpfYlIVEL3KgVIinMujFas2wnMGFLyKK3uKFdwVA5X0dIUNwNWugP8vYBBAfH3MGyXS6NfJaO3bdnYqo9WZVL7C3bdt+hAVdeee6E7J9Q19Vtx7KdTXrjWbWkmlrWKBpmTtMHzHxmSEtnzGy+oKWN" +
        "Qt4qlsu6nipqhpXNmDlTKxup1ICVHTILRjFTMAeyOV1TJ+WMKd+bfjt662M5k/d8SW0u7C+fnjp68J3rH3x55olicnt01/utyoPv1s6/eiSZUF4/2X/zb1QhuT8aIwEA";

    private readonly TemporaryDirectory _files = new();

    [Fact]
    public async Task A_dump_of_format_3_whose_indexes_have_another_form_becomes_a_database()
    {
        string target = Path.Combine(_files.Path, "of-format-3");
        BackupReport report = await Database.RestoreAsync(
            new MemoryStream(Convert.FromBase64String(GzipOfFormat3)), target, null, null, Cancel);
        Assert.Equal(
            (new BackupCounts(2, 0, 2, 1, 1), "92bb44b0fea1d6b2927d86a62b344159c8c48ead35d9416cdce472c9611c2525"),
            (report.Counts, report.ContentHash));
        await using Database database = Database.Open(target);
        Assert.Equal(
            ["Auto/Users/BySearch(Name)AndAge", "Users/ByAge"], database.Indexes.List().Select(static index => index.Name));
        Assert.Equal(
            new IndexSettings { LockMode = IndexLockMode.LockedIgnore, Priority = IndexPriority.High },
            database.Indexes.Control.Settings("Users/ByAge"));
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_gzip_dump_from_before_restores()
    {
        string target = Path.Combine(_files.Path, "restored");
        BackupReport report = await Database.RestoreAsync(
            new MemoryStream(Convert.FromBase64String(GzipOfFormat1)), target, null, null, Cancel);
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

    [Theory]
    [InlineData(DumpOfFormat1, IncrementOfFormat2, "e28b49211c1840d833ffb74a10e664229a92cd5873978ce31242b8f3f6f2ed4f")]
    [InlineData(
        SnapshotOfVersion2, SnapshotIncrementOfVersion2, "d25c9cd62a4d73f213d57821c87e9bbaa092ce53d6d2bc004e5fd8c938d456a2")]
    public async Task A_chain_that_was_hashed_with_SHA_256_restores_and_is_compared_by_it(
        string full, string increment, string contentHash)
    {
        BackupPart[] parts = [Part("full", full), Part("increment", increment)];
        Assert.Equal(4, (await Database.VerifyBackupAsync(parts, null, null, Cancel)).LastEtag);

        string target = Path.Combine(_files.Path, "restored");
        BackupReport report = await Database.RestoreAsync(parts, target, null, null, Cancel);
        Assert.Equal((contentHash, 4L), (report.ContentHash, report.LastEtag));
        await using Database database = Database.Open(target);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("users/1", out _) && snapshot.TryGet("users/3", out _));
        Assert.False(snapshot.TryGet("users/2", out _));
        // which is hashed with BLAKE3
        Assert.NotEqual(contentHash, (await database.BackupAsync(Stream.Null, null, null, Cancel)).ContentHash);
    }

    private static BackupPart Part(string name, string base64) =>
        new(name, _ => ValueTask.FromResult<Stream>(new MemoryStream(Convert.FromBase64String(base64))));
}
