using System.Text.Json.Serialization;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>
/// Ids are set on objects that were read without them, or stand in the JSON where the type could tell the difference; and whether
/// an object changed is found without writing it twice. Neither way shows.
/// </summary>
public sealed class EntityReadingTests : IDisposable
{
    private readonly Database _database = Database.OpenInMemory();

    public void Dispose() => _database.Dispose();

    [Fact]
    public void Ids_of_every_kind_come_back()
    {
        var guid = Guid.Parse("0b2f5f4e-6a55-4d5e-9c3c-0f3f0f2d7a11");
        Stored(new Plain { Id = "plains/1", Name = "a" }, "plains/1");
        Stored(new Numbered { Id = 7 }, "numbereds/7");
        Stored(new MaybeNumbered { Id = long.MaxValue }, "maybeNumbereds/9223372036854775807", "MaybeNumbereds/9223372036854775807");
        Stored(new Unique { Id = guid }, $"uniques/{guid:D}");
        Stored(new Required { Id = "requireds/1" }, "requireds/1");
        Stored(new Positional("positionals/1", "b"), "positionals/1");
        Stored(new Private("privates/1"), "privates/1");

        using DocumentSession session = _database.OpenSession();
        Assert.Equal(("plains/1", "a"), (Load<Plain>(session, "plains/1").Id, Load<Plain>(session, "plains/1").Name));
        Assert.Equal(7, Load<Numbered>(session, "numbereds/7").Id);
        Assert.Equal(guid, Load<Unique>(session, $"uniques/{guid:D}").Id);
        Assert.Equal("requireds/1", Load<Required>(session, "requireds/1").Id);
        Assert.Equal(new Positional("positionals/1", "b"), Load<Positional>(session, "positionals/1"));
        Assert.Equal("privates/1", Load<Private>(session, "privates/1").Id);
        Assert.False(session.HasChanges);
    }

    [Fact]
    public async Task The_id_is_that_of_the_document_whatever_stands_in_its_JSON()
    {
        using (var batch = new WriteBatch())
        {
            batch.Put("plains/1", """{"Id":"plains/9","Name":"a","@metadata":{"@collection":"Plains"}}"""u8);
            await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        using DocumentSession session = _database.OpenSession();
        Assert.Equal("plains/1", Load<Plain>(session, "plains/1").Id);
        Assert.Equal("plains/1", Load<Plain>(session, "PLAINS/1").Id);
    }

    [Fact]
    public void An_object_that_looks_at_its_id_when_it_is_read_has_it()
    {
        Stored(new Watching { Id = "watchings/1" }, "watchings/1");
        using DocumentSession session = _database.OpenSession();
        Assert.Equal("read as watchings/1", Load<Watching>(session, "watchings/1").Said);
    }

    [Theory]
    [InlineData("plains/1,2")]
    [InlineData("plains/\"quoted\",")]
    [InlineData("plains/1\",\"Name\":\"a")]
    [InlineData("plains/é,ü")]
    public void A_change_is_noticed_whatever_the_id_is(string id)
    {
        Stored(new Plain { Id = id, Name = "a", Other = "b" }, id);
        using DocumentSession session = _database.OpenSession();
        Plain plain = Load<Plain>(session, id);
        Assert.False(session.HasChanges);
        plain.Name = "c";
        Assert.True(session.HasChanges);
        plain.Name = "a";
        Assert.False(session.HasChanges);
        plain.Name = null;
        session.SaveChanges();
        Assert.False(session.HasChanges);
        using DocumentSession other = _database.OpenSession();
        Assert.Null(Load<Plain>(other, id).Name);
    }

    [Fact]
    public async Task A_member_that_a_document_lacks_is_a_change_where_it_has_a_value()
    {
        using (var batch = new WriteBatch())
        {
            batch.Put("sparses/1", """{"Other":"b","@metadata":{"@collection":"Sparses"}}"""u8);
            await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        using DocumentSession session = _database.OpenSession();
        Sparse sparse = Load<Sparse>(session, "sparses/1");
        Assert.False(session.HasChanges);
        sparse.Name = "a"; // what is written then ends as the document does
        Assert.True(session.HasChanges);
    }

    private static T Load<T>(DocumentSession session, string id)
        where T : class => session.Load<T>(id) ?? throw new InvalidOperationException($"There is no '{id}'.");

    private void Stored(object entity, params string[] ids)
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(entity);
        session.SaveChanges();
        Assert.Contains(session.GetDocumentId(entity), ids);
    }

    private sealed class Plain
    {
        public string? Id { get; set; }

        public string? Name { get; set; }

        public string? Other { get; set; }
    }

    private sealed class Sparse
    {
        public string? Id { get; set; }

        [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
        public string? Name { get; set; }

        public string? Other { get; set; }
    }

    private sealed class Numbered
    {
        public int Id { get; init; }
    }

    private sealed class MaybeNumbered
    {
        public long? Id { get; set; }
    }

    private sealed class Unique
    {
        public Guid? Id { get; set; }
    }

    private sealed class Required
    {
        public required string Id { get; init; }
    }

    private sealed record Positional(string Id, string Name);

    private sealed class Private
    {
        public Private(string id) => Id = id;

        private Private()
        {
        }

        public string? Id { get; private set; }
    }

    private sealed class Watching : IJsonOnDeserialized
    {
        public string? Id { get; set; }

        [JsonIgnore]
        public string Said { get; private set; } = "";

        public void OnDeserialized() => Said = $"read as {Id}";
    }
}
