using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>Maps that read the contents of attachments follow their changes.</summary>
public sealed class AttachmentMapTests : IDisposable
{
    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("from o in docs.Orders select new { Words = LoadAttachment(o, \"a.txt\").GetContentAsString() }")]
    [InlineData("map('Orders', o => ({ Words: loadAttachment(o, 'a.txt')?.getContentAsString() }))")]
    public async Task An_index_has_the_words_of_an_attachment_as_they_are_now(string map)
    {
        _run.Define("Notes", map, """{"Words":{"Indexing":"Search"}}""");
        await _run.PutAsync("orders/1", "{}", "Orders");
        await AttachAsync("orders/1", "ring twice");
        Assert.Equal(["orders/1"], await _run.IdsAsync("from index Notes where search(Words, 'twice')"));
        await AttachAsync("orders/1", "do not knock");
        Assert.Empty(await _run.IdsAsync("from index Notes where search(Words, 'twice')"));
        Assert.Equal(["orders/1"], await _run.IdsAsync("from index Notes where search(Words, 'knock')"));
        await _run.Database.WriteAsync(
            new WriteBatch().DeleteAttachment("orders/1", "a.txt"), TestContext.Current.CancellationToken);
        Assert.Empty(await _run.IdsAsync("from index Notes where search(Words, 'knock')"));
        Assert.Empty(_run.Database.Indexes.Errors("Notes"));
        await AttachAsync("orders/1", new string('a', 2 << 20));
        await _run.WaitAsync();
        Assert.Contains(
            "2,097,152 bytes", Assert.Single(_run.Database.Indexes.Errors("Notes")).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(
        "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") select new { W = LoadAttachment(c, "
            + "\"a.txt\").GetContentAsString() }")]
    [InlineData("map('Orders', o => ({ W: loadAttachment(load(o.Company, 'Companies'), 'a.txt').getContentAsString() }))")]
    public async Task Attachments_of_other_documents_are_an_error_of_the_document(string map)
    {
        _run.Define("Notes", map);
        await _run.PutAsync("companies/1", "{}", "Companies");
        await AttachAsync("companies/1", "ring twice");
        await _run.PutAsync("orders/1", """{"Company":"companies/1"}""", "Orders");
        await _run.WaitAsync();
        Assert.Contains(
            "of the document that it maps alone", Assert.Single(_run.Database.Indexes.Errors("Notes")).Message,
            StringComparison.Ordinal);
    }

    private async Task AttachAsync(string id, string text)
    {
        await using var upload = _run.Database.BeginUpload();
        await upload.WriteAsync(System.Text.Encoding.UTF8.GetBytes(text), TestContext.Current.CancellationToken);
        await upload.CompleteAsync(TestContext.Current.CancellationToken);
        await _run.Database.WriteAsync(
            new WriteBatch().PutAttachment(id, "a.txt", "text/plain", upload), TestContext.Current.CancellationToken);
    }
}
