using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Sessions that are used as none can be: it is said, and nothing is lost.</summary>
public sealed class SessionMisuseTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Two_threads_in_one_session_are_noticed()
    {
        using Database database = Database.Open(_directory.Path);
        using var inside = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        using DocumentSession session = database.OpenSession(new SessionOptions
        {
            Json = new JsonSerializerOptions(JsonSerializerOptions.Default)
            {
                Converters = { new SlowConverter(() => { inside.Set(); goOn.Wait(); }) }
            },
        });
        session.Store(new Item { Id = "items/1", Name = "x" });
        await session.SaveChangesAsync(Token);
        session.Clear();

        Task<Item?> first = Task.Run(() => session.Load<Item>("items/1"), Token);
        inside.Wait(Token);
        var error = Assert.Throws<InvalidOperationException>(() => session.Load<Item>("items/1"));
        Assert.Contains("two threads at once", error.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => session.Store(new Item()));
        await Assert.ThrowsAsync<InvalidOperationException>(() => session.SaveChangesAsync(Token));
        goOn.Set();
        Assert.Equal("x", (await first)!.Name); // saved above
        Assert.Same(await first, session.Load<Item>("items/1"));
    }

    [Fact]
    public async Task A_session_that_saves_takes_no_calls_and_may_be_disposed()
    {
        using Database database = Database.Open(_directory.Path);
        var stream = new BlockedStream();
        using (DocumentSession session = database.OpenSession())
        {
            var item = new Item { Id = "items/1", Name = "saved" };
            session.Store(item);
            session.Advanced.Attachments.Store("items/1", "a", stream);
            Task save = session.SaveChangesAsync(Token);
            Assert.False(save.IsCompleted);
            Assert.Contains(
                "while it saves", Assert.Throws<InvalidOperationException>(() => session.Store(new Item())).Message,
                StringComparison.Ordinal);
            Assert.Throws<InvalidOperationException>(() => session.Store(item, changeVector: ""));
            Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(item));
            Assert.Throws<InvalidOperationException>(() => session.Advanced.Lazily.Load<Item>("items/2"));
            Assert.Throws<InvalidOperationException>(() => session.Query<Item>().Lazily());
            session.Dispose();
            stream.End();
            await save;
            Assert.Throws<ObjectDisposedException>(() => session.Load<Item>("items/1"));
        }

        using DocumentSession other = database.OpenSession();
        Assert.Equal("saved", other.Load<Item>("items/1")!.Name); // saved
        Assert.True(other.Advanced.Attachments.Exists("items/1", "a"));
    }

    [Fact]
    public async Task A_database_closed_under_load_keeps_what_it_acknowledged()
    {
        var saved = new System.Collections.Concurrent.ConcurrentBag<string>();
        Database database = Database.Open(_directory.Path);
        Task[] writers = [.. Enumerable.Range(0, 4).Select(writer => Task.Run(async () =>
        {
            try
            {
                for (int i = 0; ; i++)
                {
                    await using DocumentSession session = database.OpenSession();
                    string id = $"items/{writer}-{i}";
                    session.Store(new Item { Id = id, Name = id });
                    await session.SaveChangesAsync(Token);
                    saved.Add(id);
                    await session.Query<Item>().Where(item => item.Name == id).ToListAsync(Token);
                }
            }
            catch (ObjectDisposedException)
            {
                // The database was closed, and said so.
            }
        }))];
        await Eventually.TrueAsync(() => saved.Count > 40, "some saves are done");
        database.Dispose();
        await Task.WhenAll(writers);

        using Database again = Database.Open(_directory.Path);
        using DocumentSession reader = again.OpenSession();
        Assert.All(saved, id => Assert.NotNull(reader.Load<Item>(id)));
    }

    private sealed class Item
    {
        public string? Id { get; set; }

        public string? Name { get; set; }
    }

    /// <summary>Waits within the first text it reads.</summary>
    private sealed class SlowConverter(Action wait) : JsonConverter<string>
    {
        private int _waited;

        public override string? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
        {
            string? text = reader.GetString();
            if (text == "x" && Interlocked.Exchange(ref _waited, 1) == 0)
                wait();
            return text;
        }

        public override void Write(Utf8JsonWriter writer, string value, JsonSerializerOptions options) =>
            writer.WriteStringValue(value);
    }

    /// <summary>Has nothing to read until it is ended.</summary>
    private sealed class BlockedStream : MemoryStream
    {
        private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void End() => _end.SetResult();

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            await _end.Task;
            return 0;
        }
    }
}
