using System.Text;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Which ids are collected from documents, and by which paths.</summary>
public sealed class IncludedDocumentsTests
{
    private const string Order =
        """
        {
          "Company": "companies/1", "Again": "COMPANIES/1", "Empty": "", "Number": 7, "Nothing": null,
          "Lines": [{"Product": "products/1"}, {"Product": "products/2"}, {"Product": ["products/3", {"x": "no/1"}]}, "no/2"],
          "Parts": {"parts/1": {"From": "suppliers/1"}, "parts/2": {"From": "suppliers/2", "More": {"From": "no/3"}}},
          "Roles": {"buyer": "people/1", "seller": ["people/2", "people/1"], "none": 5},
          "$Values": "people/9"
        }
        """;

    [Theory]
    [InlineData("Company", "companies/1")]
    [InlineData("Lines.Product", "products/1 products/2 products/3")]
    [InlineData("Lines[].Product", "products/1 products/2 products/3")]
    [InlineData("Lines[1].Product", "products/2")]
    [InlineData("Company Lines[1].Product Again", "companies/1 products/2")]
    [InlineData("Parts.$Keys", "parts/1 parts/2")]
    [InlineData("Parts.$Values.From", "suppliers/1 suppliers/2")]
    [InlineData("Parts.$Values.More.From Parts.$Keys.From", "no/3")]
    [InlineData("Roles.$Values", "people/1 people/2")]
    [InlineData("Roles.$Values Roles.seller Roles.$Keys", "people/2 people/1 buyer seller none")]
    [InlineData("Lines.$Values", "products/1 products/2 products/3")]
    [InlineData("Company.$Keys Number Nothing Empty Lines Parts No.Such", "no/2")]
    [InlineData("'Company'", "companies/1")]
    public async Task Paths_find_the_texts_of_a_document_each_once(string paths, string ids)
    {
        await using Database database = Database.OpenInMemory();
        await database.WriteAsync(
            new WriteBatch().Put("orders/1", Encoding.UTF8.GetBytes(Order)), TestContext.Current.CancellationToken);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("orders/1", out Document order));
        var included = new IncludedDocuments(paths.Split(' '));
        included.Collect(order);
        included.Collect(order);
        Assert.Equal(ids, string.Join(' ', included.Ids));
        included.Except(["PRODUCTS/2", "companies/1"]);
        Assert.Equal(
            ids.Split(' ').Where(static id => id is not ("products/2" or "companies/1")), included.Ids);
    }

    [Theory]
    [InlineData("")]
    [InlineData("a..b")]
    [InlineData("a[x]")]
    [InlineData("'a")]
    public void A_text_that_is_no_path_is_refused(string path) =>
        Assert.Equal(
            $"'{path}' is not a path to include. Write it as in Lines[].Product.",
            Assert.Throws<InvalidQueryException>(() => new IncludedDocuments(["Company", path])).Message);

    [Fact]
    public async Task A_query_includes_by_the_keys_and_values_of_an_object_without_a_warning()
    {
        await using Database database = Database.OpenInMemory();
        await database.PutAsync("orders/1", Order, "Orders");
        foreach (string id in (string[])["parts/2", "suppliers/1", "people/9"])
            await database.PutAsync(id, "{}");
        Answer answer = await database.AskAsync("from Orders as o include 'o.Parts.$Values.From', 'Parts.$Keys'");
        Assert.Equal(["parts/2", "suppliers/1"], answer.Includes.Select(static include => include.Key).Order());
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = "from Orders include 'Parts.$Values.From'" }, TestContext.Current.CancellationToken);
        Assert.Empty(results.Warnings);
    }
}
