using System.Text;
using Treepie.Computations;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Extraction;
using Treepie.Indexing.Analysis;
using Treepie.Store;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>Options of fields that documents name.</summary>
public sealed class DynamicValuesTests
{
    private static readonly IndexFieldDefinition _unindexed = new() { Name = "Kind", Indexing = FieldIndexing.No };

    [Fact]
    public void Fields_are_indexed_as_all_fields_are_where_neither_document_nor_definition_says_how()
    {
        var mapping = new StaticIndexMapping(
            new IndexDefinition
            {
                Name = "Products",
                Computes = true,
                Fields = [_unindexed, new() { Name = "Note", Indexing = FieldIndexing.Search }],
                AllFields = new() { Name = "__all_fields", Indexing = FieldIndexing.No },
            },
            new NamingMap());
        var named = new HashSet<DynamicField>();
        var values = new DynamicValues(mapping, mapping.Fields.Count, named);
        values.Read(
            Encoding.UTF8.GetBytes(
                $$"""
                {"{{MappedField.Dynamic}}":[{"Name":"Colour","Value":"red"},{"Name":"Size","Value":1,"Indexing":"Exact"},
                {"Name":"Note","Value":"some words"}]}
                """),
            (field, problem) => Assert.Fail($"{field}: {problem}"));
        Assert.Equal([new DynamicField("Size", DynamicFieldUse.Exact)], named);
        Assert.Equal("Note", Assert.Single(values.Found).Field.Name);
    }

    [Fact]
    public void Fixed_fields_need_not_be_indexed_beside_those_that_documents_name()
    {
        var definition = new IndexDefinition { Name = "Products", Computes = true, Fields = [_unindexed] };
        Assert.Same(definition, DefinitionCheck.Require(definition, AnalyzerSet.BuiltIn));
    }

    private sealed class NamingMap : IndexMap
    {
        public override IReadOnlyList<string> Collections => [];

        public override IReadOnlyList<MappedField> Fields => [];

        public override bool HasDynamicFields => true;

        public override void Map(Document document, IMapHost host, MapOutput output) => throw new NotSupportedException();
    }
}
