using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

public sealed class IndexDirectoryTests
{
    private static readonly AutoIndexDefinition _definition =
        new(
            "Users \"größe\"",
            [new("Name"), new("Lines[].Product", AutoIndexFieldKind.Exact), new("Notes", AutoIndexFieldKind.Search), new(
                AutoIndexField.Id)]);

    [Fact]
    public void A_published_definition_is_found_as_it_was()
    {
        using var folder = new TemporaryDirectory();
        IndexDirectory.Create(folder.Path, _definition, 7).Publish(_definition);

        (IndexDirectory directory, IndexMapping mapping) = Assert.Single(IndexDirectory.Scan(folder.Path));
        AutoIndexDefinition found = Assert.IsType<AutoIndexDefinition>(mapping);
        Assert.Equal(7, directory.Generation);
        Assert.Equal(_definition.Name, found.Name);
        Assert.Equal(_definition.Collection, found.Collection);
        Assert.Equal(_definition.Fields, found.Fields);
    }

    [Fact]
    public void What_a_crash_left_half_made_or_half_deleted_is_swept_away()
    {
        using var folder = new TemporaryDirectory();
        IndexDirectory halfMade = IndexDirectory.Create(folder.Path, _definition, 1);
        Directory.CreateDirectory(halfMade.StorePath);
        IndexDirectory halfDeleted = IndexDirectory.Create(folder.Path, _definition, 2);
        halfDeleted.Publish(_definition);
        halfDeleted.Retract();
        IndexDirectory broken = IndexDirectory.Create(folder.Path, _definition, 3);
        File.WriteAllText(Path.Combine(broken.Path, "definition.json"), "{\"Version\":1,\"Fields\":");

        Assert.Empty(IndexDirectory.Scan(folder.Path));
        Assert.Empty(Directory.EnumerateFileSystemEntries(folder.Path));
    }

    [Fact]
    public void Of_two_directories_of_one_index_the_later_stays()
    {
        using var folder = new TemporaryDirectory();
        foreach (long generation in (long[])[9, 10, 2])
            IndexDirectory.Create(folder.Path, _definition, generation).Publish(_definition);

        (IndexDirectory directory, _) = Assert.Single(IndexDirectory.Scan(folder.Path));
        Assert.Equal(10, directory.Generation);
        Assert.Single(Directory.EnumerateDirectories(folder.Path));
    }

    [Fact]
    public void Any_name_makes_a_directory_inside_its_parent()
    {
        using var folder = new TemporaryDirectory();
        foreach (string name in (string[])["../../x", "a/b\\c:*?", new string('ü', 300), "."])
        {
            var definition = new AutoIndexDefinition(name, []);
            IndexDirectory.Create(folder.Path, definition, 1).Publish(definition);
        }

        Assert.Equal(4, IndexDirectory.Scan(folder.Path).Count);
        Assert.Equal(4, Directory.EnumerateDirectories(folder.Path).Count());
    }
}
