using Treepie.Indexes.Definitions;
using Treepie.Indexing.Schema;

namespace Treepie.Documents.Tests.Indexes;

public sealed class AutoIndexDefinitionTests
{
    [Fact]
    public void Names_follow_from_the_fields_in_the_order_of_the_query()
    {
        Assert.Equal("Auto/Users", Define("Users").Name);
        Assert.Equal("Auto/Users/ByNameAndAge", Define("Users", new("Name"), new("Age")).Name);
        Assert.Equal("Auto/Users/BySearch(Notes)", Define("Users", new AutoIndexField("Notes", AutoIndexFieldKind.Search)).Name);
        Assert.Equal(
            "Auto/Users/ByExact(FirstName)", Define("Users", new AutoIndexField("FirstName", AutoIndexFieldKind.Exact)).Name);
        Assert.Equal("Auto/AllDocs/ByLines[].Product", Define("@all_docs", new AutoIndexField("Lines[].Product")).Name);
    }

    [Fact]
    public void A_long_name_is_cut_and_stays_different()
    {
        AutoIndexField[] fields = [.. Enumerable.Range(0, 100).Select(i => new AutoIndexField($"Field{i}"))];
        string name = Define("Users", fields).Name;
        string other = Define("Users", [.. fields[..99], new AutoIndexField("Other")]).Name;
        Assert.Equal(256, name.Length);
        Assert.NotEqual(name, other);
        Assert.StartsWith("Auto/Users/ByField0AndField1And", name, StringComparison.Ordinal);
    }

    [Fact]
    public void Merging_keeps_what_is_there_and_adds_what_is_new()
    {
        AutoIndexDefinition merged = Define("Users", new("Name"), new("Age"))
            .Merge([new("Age"), new("Name", AutoIndexFieldKind.Exact), new("City"), new("City")]);
        Assert.Equal("Auto/Users/ByNameAndAgeAndExact(Name)AndCity", merged.Name);
        Assert.Equal(["Name", "Age", "exact(Name)", "City"], merged.Schema.Fields.Select(f => f.Name));
        Assert.Equal(FieldAnalysis.Keyword, merged.Schema.Fields[2].Analysis);
    }

    [Fact]
    public void It_covers_fields_of_the_same_path_and_kind()
    {
        AutoIndexDefinition definition = Define("Users", new("Name"), new("Notes", AutoIndexFieldKind.Search));
        Assert.True(definition.Covers([]));
        Assert.True(definition.Covers([new("Name")]));
        Assert.False(definition.Covers([new("name")]));
        Assert.False(definition.Covers([new("Notes")]));
        Assert.True(definition.IsFor("users"));
    }

    private static AutoIndexDefinition Define(string collection, params AutoIndexField[] fields) => new(collection, fields);
}
