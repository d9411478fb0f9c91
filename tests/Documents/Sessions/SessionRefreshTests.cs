using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Sessions;
using Treepie.Store;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Objects take over a change of their document as a whole, or not at all.</summary>
public sealed partial class SessionRefreshTests : IDisposable
{
    private readonly Database _database = Database.OpenInMemory();

    public void Dispose() => _database.Dispose();

    [Fact]
    public void Members_that_equal_their_new_values_take_these_over()
    {
        var noon = new DateTimeOffset(2024, 3, 1, 12, 0, 0, TimeSpan.Zero);
        using DocumentSession session = _database.OpenSession();
        var known = new Bill
        {
            Id = "bills/1",
            Price = new Money("EUR") { Amount = 1 },
            Amount = 1.0m,
            At = noon,
            Time = DateTime.SpecifyKind(noon.DateTime, DateTimeKind.Unspecified),
        };
        session.Store(known);
        session.SaveChanges();
        using (DocumentSession other = _database.OpenSession())
        {
            Bill bill = other.Load<Bill>("bills/1")!; // stored above
            bill.Price = new Money("EUR") { Amount = 2 };
            bill.Amount = 1.00m;
            bill.At = noon.ToOffset(TimeSpan.FromHours(2));
            bill.Time = DateTime.SpecifyKind(noon.DateTime, DateTimeKind.Utc);
            other.SaveChanges();
        }

        string changed = Body("bills/1");
        session.Advanced.Refresh(known);
        Assert.Equal(2, known.Price.Amount);
        Assert.Equal(TimeSpan.FromHours(2), known.At.Offset);
        Assert.False(session.HasChanges);
        known.Note = "x";
        session.SaveChanges();
        Assert.Equal(changed.Replace("\"Note\":null", "\"Note\":\"x\"", StringComparison.Ordinal), Body("bills/1"));
    }

    [Fact]
    public void Objects_whose_constructor_takes_a_list_stay_in_the_session()
    {
        using DocumentSession session = _database.OpenSession();
        var known = new Basket([new Line("a"), new Line("b")]) { Id = "baskets/1" };
        session.Store(known);
        session.SaveChanges();
        session.Advanced.Patch("baskets/1", (Basket basket) => basket.Note, "patched");
        session.SaveChanges();
        Assert.Equal("patched", known.Note);
        session.Advanced.Refresh(known);
        known.Note = "later";
        session.SaveChanges();
        Assert.Contains("\"later\"", Body("baskets/1"), StringComparison.Ordinal);
        using (DocumentSession other = _database.OpenSession())
        {
            other.Load<Basket>("baskets/1")!.Lines.Add(new Line("c")); // stored above
            other.SaveChanges();
        }

        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(known));
        Assert.Equal(2, known.Lines.Count);
    }

    [Fact]
    public void What_cannot_be_taken_over_leaves_the_object_as_it_was()
    {
        using DocumentSession session = _database.OpenSession();
        var known = new Titled("a", "1") { Id = "titleds/1" };
        var limited = new Limited { Id = "limiteds/1", Note = "a", Value = 8, Most = 10 };
        session.Store(known);
        session.Store(limited);
        session.SaveChanges();
        using (DocumentSession other = _database.OpenSession())
        {
            other.Store(new Titled("b", "2") { Id = "titleds/1" });
            other.Store(new Limited { Id = "limiteds/1", Note = "b", Value = 50, Most = 60 });
            other.SaveChanges();
        }

        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(known));
        Assert.Equal(("a", "1"), (known.Title, known.Code));
        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(limited));
        Assert.Equal(("a", 8, 10), (limited.Note, limited.Value, limited.Most));
        Assert.False(session.HasChanges);
    }

    [Fact]
    public void Members_that_only_an_initializer_sets_are_compared_if_metadata_is_generated()
    {
        SessionOptions Generated(SessionOptions options) =>
            options with { Json = new JsonSerializerOptions { TypeInfoResolver = Context.Default } };
        using DocumentSession session = _database.OpenSession(Generated);
        var known = new Initial { Id = "initials/1", Note = "a", Tags = ["x"] };
        session.Store(known);
        session.SaveChanges();
        Change(new Initial { Id = "initials/1", Note = "b", Tags = ["x"] });
        session.Advanced.Refresh(known);
        Assert.Equal("b", known.Note);
        Change(new Initial { Id = "initials/1", Note = "c", Tags = ["y"] });
        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(known));
        Assert.Equal("b", known.Note);
        Assert.Equal(["x"], known.Tags);

        void Change(Initial to)
        {
            using DocumentSession other = _database.OpenSession(Generated);
            other.Store(to);
            other.SaveChanges();
        }
    }

    [Fact]
    public void Members_without_a_setter_that_are_filled_take_over_what_they_are_filled_with()
    {
        using DocumentSession session = _database.OpenSession();
        var known = new Filled { Id = "filleds/1" };
        List<string> items = known.Items;
        known.Items.Add("a");
        known.Counts.Add("a", 1);
        known.Inner.Names.Add("x");
        known.Inner.Most = 10; // a greater value is refused until this is set
        session.Store(known);
        session.SaveChanges();
        Change(
            filled =>
            {
                filled.Items.AddRange(["b", "c"]);
                (filled.Counts["a"], filled.Counts["b"], filled.Inner.Note) = (2, 3, "n");
                filled.Inner.Names.Clear();
            });
        session.Advanced.Refresh(known);
        Assert.Same(items, known.Items);
        Assert.Equal(["a", "b", "c"], items);
        Assert.Equal([("a", 2), ("b", 3)], known.Counts.Select(static pair => (pair.Key, pair.Value)));
        Assert.Equal("n", known.Inner.Note);
        Assert.Empty(known.Inner.Names);
        Assert.False(session.HasChanges);

        // A patch of it is not undone by the next save.
        session.Advanced.Patch("filleds/1", (Filled filled) => filled.Inner.Note, "patched");
        session.SaveChanges();
        Assert.Equal("patched", known.Inner.Note);
        known.Note = "later";
        session.SaveChanges();
        Assert.Contains("\"patched\"", Body("filleds/1"), StringComparison.Ordinal);

        // What is refused half way leaves all as it was.
        Change(
            static filled =>
            {
                filled.Items.Clear();
                filled.Counts.Clear();
                (filled.Inner.Note, filled.Inner.Most, filled.Inner.Value) = ("o", 60, 50);
            });
        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(known));
        Assert.Equal(["a", "b", "c"], known.Items);
        Assert.Equal((2, "patched", 0), (known.Counts.Count, known.Inner.Note, known.Inner.Value));
        Change(
            static filled =>
            {
                (filled.Inner.Value, filled.Inner.Most) = (0, 10);
                filled.Set.Add("s"); // which nothing fills without knowing the type of its items
            });
        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(known));
        Assert.Empty(known.Set);

        void Change(Action<Filled> change)
        {
            using DocumentSession other = _database.OpenSession();
            change(other.Load<Filled>("filleds/1")!); // stored above
            other.SaveChanges();
        }
    }

    private string Body(string id)
    {
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document));
        return System.Text.Encoding.UTF8.GetString(document.Body);
    }

    private sealed class Bill
    {
        public string? Id { get; set; }

        public Money Price { get; set; } = new("");

        public decimal Amount { get; set; }

        public DateTimeOffset At { get; set; }

        public DateTime Time { get; set; }

        public string? Note { get; set; }
    }

    /// <summary>Equal if the currency is.</summary>
    private sealed class Money(string currency) : IEquatable<Money>
    {
        public string Currency { get; } = currency;

        public int Amount { get; set; }

        public bool Equals(Money? other) => other?.Currency == Currency;

        public override bool Equals(object? obj) => Equals(obj as Money);

        public override int GetHashCode() => Currency.GetHashCode(StringComparison.Ordinal);
    }

    private sealed record Line(string Product);

    private sealed class Basket(List<Line> lines)
    {
        public string? Id { get; set; }

        public List<Line> Lines { get; } = lines;

        public string? Note { get; set; }
    }

    private sealed class Titled(string title, string code)
    {
        public string? Id { get; set; }

        public string Title { get; set; } = title;

        public string Code { get; } = code;
    }

    private sealed class Limited
    {
        private int _value;

        public string? Id { get; set; }

        public string? Note { get; set; }

        public int Value
        {
            get => _value;
            set
            {
                ArgumentOutOfRangeException.ThrowIfGreaterThan(value, Most);
                _value = value;
            }
        }

        public int Most { get; set; } = 100;
    }

    private sealed class Initial
    {
        public string? Id { get; set; }

        public string? Note { get; set; }

        public List<string> Tags { get; init; } = [];
    }

    [JsonObjectCreationHandling(JsonObjectCreationHandling.Populate)]
    private sealed class Filled
    {
        public string? Id { get; set; }

        public string? Note { get; set; }

        public List<string> Items { get; } = [];

        public SortedDictionary<string, int> Counts { get; } = [];

        public HashSet<string> Set { get; } = [];

        public Inside Inner { get; } = new();

        [JsonObjectCreationHandling(JsonObjectCreationHandling.Populate)]
        public sealed class Inside
        {
            private int _value;

            public string? Note { get; set; }

            public List<string> Names { get; } = [];

            public int Value
            {
                get => _value;
                set
                {
                    ArgumentOutOfRangeException.ThrowIfGreaterThan(value, Most);
                    _value = value;
                }
            }

            public int Most { get; set; } = 100;
        }
    }

    [JsonSerializable(typeof(Initial))]
    private sealed partial class Context : JsonSerializerContext;
}
