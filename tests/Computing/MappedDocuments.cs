using System.Text;
using Treepie.Computations;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>Maps one document of a small database.</summary>
internal static class MappedDocuments
{
    public static void Map(IndexMap map, string id, string collection, string json, MapOutput output)
    {
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        var batch = new WriteBatch();
        batch.Put(id, Encoding.UTF8.GetBytes(json[..^1] + ",\"@metadata\":{\"@collection\":\"" + collection + "\",\"Own\":5}}"));
        database.WriteAsync(batch).GetAwaiter().GetResult();
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document));
        map.Map(
            document,
            new Host(
                Encoding.UTF8.GetBytes(
                    $"{(json == "{}" ? "{" : json[..^1] + ",")}\"@metadata\":{{\"@collection\":\""
                        + $"{collection}\",\"Own\":5,\"@id\":\"{id}\"}}}}")),
            output);
    }

    private sealed class Host(byte[] whole) : IMapHost
    {
        public byte[]? Load(string id, string collection) =>
            (id, collection) == ("companies/1", "Companies")
                ? Encoding.UTF8.GetBytes("""{"Name":"Acme","@metadata":{"@id":"companies/1"}}""")
                : null;

        public byte[]? CompareExchange(string key) => key == "rate" ? Encoding.UTF8.GetBytes("""{"R":2}""") : null;

        public byte[]? Attachment(string id, string name) => null;

        public string? AttachmentText(string id, string name) => null;

        public byte[] WholeDocument() => whole;
    }
}
