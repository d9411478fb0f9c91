using System.Text.Json.Nodes;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What <see cref="SessionAdvanced.WhatChanged"/> says of what is done beside documents.</summary>
public sealed class SessionChangeTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task What_a_save_does_beside_documents_is_told_before_it_and_forgotten_after_it()
    {
        using Database database = Database.OpenInMemory();
        using DocumentSession session = database.OpenSession(options => options with { IsClusterWide = true });
        var page = new Page { Id = "pages/1", Title = "a" };
        session.Store(page);
        await session.SaveChangesAsync(Token);
        Assert.Empty(session.Advanced.WhatChanged());

        page.Title = "b";
        session.CountersFor(page).Increment("likes", 3);
        session.CountersFor("PAGES/1").Delete("visits");
        session.TimeSeriesFor(page, "heat").Append(DateTime.UnixEpoch, [1, 2]);
        session.TimeSeriesFor(page, "heat").Delete();
        session.Advanced.Attachments.Store(page, "photo", new MemoryStream([1]));
        session.Advanced.Attachments.Move("pages/1", "photo", "pages/2", "cover");
        session.Advanced.Revisions.ForceRevisionCreationFor(page);
        session.Advanced.Patch<Page, string>("pages/3", one => one.Tags, tags => tags.Add("x", "y").RemoveAll("z").RemoveAt(0));
        session.Advanced.Increment<Page, int>("pages/3", one => one.Views, 2);
        session.Advanced.Patch("pages/3", (Page one) => one.Title, "c");
        session.Advanced.ClusterTransaction.Create("keys/1", 5);

        IReadOnlyDictionary<string, IReadOnlyList<SessionChange>> changes = session.Advanced.WhatChanged();
        Assert.Equal(
            [
                "Changed Title a b", "CounterIncremented likes  3", "CounterDeleted visits  ", "TimeSeriesAppended heat  [1,2]",
                "TimeSeriesDeleted heat  ", "AttachmentPut photo  ", "AttachmentDeleted photo  ", "RevisionForced   ",
            ],
            Texts(changes["pages/1"]));
        Assert.Equal(["AttachmentPut cover  "], Texts(changes["pages/2"]));
        Assert.Equal(
            [
                "ElementsAdded Tags  [\"x\",\"y\"]", "ElementsRemoved Tags z ", "ElementRemovedAt Tags 0 ",
                "ValueIncremented Views  2", "ValueSet Title  c",
            ],
            Texts(changes["pages/3"]));
        Assert.Equal(["CompareExchangePut   "], Texts(changes["keys/1"]));

        session.Clear();
        Assert.Empty(session.Advanced.WhatChanged());
    }

    private static IEnumerable<string> Texts(IEnumerable<SessionChange> changes) => changes.Select(
        change => $"{change.Kind} {change.Path} {Text(change.OldValue)} {Text(change.NewValue)}");

    private static string? Text(JsonNode? value) =>
        value is JsonValue ? value.ToString() : value?.ToJsonString();

    private sealed class Page
    {
        public string? Id { get; set; }

        public string? Title { get; set; }

        public int Views { get; set; }

        public List<string> Tags { get; set; } = [];
    }
}
